// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/parallel/detail/line_source.hpp>
#include <devplace/parallel/detail/loop_operands.hpp>
#include <devplace/parallel/exchange.hpp>
#include <devplace/parallel/field.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace::parallel::detail {

/// The reducer along a line, and the one over lines and places.
template <reduction By, class T, class Accumulator> auto field_reducer(Accumulator* result) {
  if constexpr (std::is_same_v<Accumulator, exact_digits>)
    return exact_reducer{result};
  else if constexpr (By == reduction::max || By == reduction::min)
    return devplace::detail::extremum_reducer<T, By == reduction::max>{result};
  else
    return devplace::detail::sum_reducer<T, Accumulator>{result, 0};
}

template <reduction By, class T> struct field_accumulator : std::type_identity<T> {};
template <reduction By, class T>
  requires(!std::is_same_v<T, exact_digits> && (By == reduction::sum || By == reduction::mean))
struct field_accumulator<By, T> : std::type_identity<devplace::detail::sum_accumulator_t<T>> {};

inline namespace DEVPLACE_CONFIGURATION {

/// Reduces the cells of every place of this process, and then over all participants in the order of their ranks.
template <reduction By, class F, class First, class... Rest>
auto reduce_fields(const F& f, const First& first, const Rest&... rest) {
  using field = field_of_operand_t<First>;
  using backend_type = typename field::backend_type;
  using mesh = devplace::detail::mesh_of<typename field::placement_type>;
  using source = line_source<F, field::rank, access_t<const First&>, access_t<const Rest&>...>;
  using value = std::remove_cvref_t<decltype(std::declval<const source&>()(0))>;
  using accumulator = typename field_accumulator<By, value>::type;
  // Sums of floating-point numbers keep the order of separate lines, on which their bits depend.
  constexpr bool merges =
      !source::indexed && (By == reduction::max || By == reduction::min || !std::is_same_v<accumulator, double>);
  const loop_operands<const First&, const Rest&...> checked(first, rest...);
  finish_exchange(first), (finish_exchange(rest), ...);
  const auto& layout = field_access::layout(exchange_access::behind(first));

  std::array<devplace::detail::memory_block, field::places> results;
  for (std::size_t k = 0; k != field::places; ++k) {
    const auto part = layout.part(k);
    const auto sizes = merges ? merged_lines<field, field_of_operand_t<Rest>...>(part.size) : part.size;
    std::size_t lines = 1;
    for (std::size_t axis = 0; axis + 1 != field::rank; ++axis) lines *= sizes[axis];
    results[k] = devplace::detail::allocate<backend_type>(mesh::ordinals[k], (1 + lines) * sizeof(accumulator),
                                                          memory_purpose::workspace);
    auto* const total = static_cast<accumulator*>(results[k].data());
    source cells{f,
                 {{access<const First&>::of(exchange_access::behind(first), k)},
                  {access<const Rest&>::of(exchange_access::behind(rest), k)}...},
                 {},
                 {}};
    std::copy_n(sizes.begin(), field::rank, cells.sizes);
    std::copy_n(part.begin.begin(), field::rank, cells.begin);
    devplace::detail::reduce<backend_type>(
        mesh::ordinals[k], devplace::detail::reduction_plan{lines, sizes[field::rank - 1], std::size_t{1}, cells,
                                                            field_reducer<By, value>(total + 1)});
    devplace::detail::reduce<backend_type>(
        mesh::ordinals[k], devplace::detail::reduction_plan{std::size_t{1}, lines, std::size_t{1},
                                                            devplace::detail::element_source<accumulator>{total + 1},
                                                            field_reducer<By, accumulator>(total)});
  }
  std::array<accumulator, field::places> own{};
  for (std::size_t k = 0; k != field::places; ++k)
    devplace::detail::copy_out<backend_type>(mesh::ordinals[k], &own[k], results[k].data(), sizeof(accumulator));

  accumulator result{};
  using reducer = decltype(field_reducer<By, accumulator>(&result));
  auto sum = reducer::identity();
  const auto merge = [&](const auto& parts) {
    for (const accumulator& part : parts) reducer::merge(sum, part);
  };
  if constexpr (spans_processes<typename field::placement_type>) {
    const process_group group(field_access::between(exchange_access::behind(first)));
    for (const auto& parts : group.all_gather(own)) merge(parts);
  } else {
    merge(own);
  }
  // Of zeros of both signs, the order of the cells, which depends on the places, would decide the result's sign.
  if constexpr (By == reduction::max || By == reduction::min) sum = static_cast<decltype(sum)>(sum + 0);
  auto total = static_cast<accumulator>(sum);
  if constexpr (By == reduction::mean) total /= static_cast<double>(exchange_access::behind(first).size());
  return total;
}

}  // namespace DEVPLACE_CONFIGURATION

}  // namespace devplace::parallel::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The sum, mean, largest or smallest of `f(x, y, ...)` over the cells of fields on the same places, as a number of f's
/// return type on the host, the same in all processes: `parallel_reduce(product{}, u, v)`. `f` is called as in
/// parallel_for(f, fields...), and reads only. Integers, maxima and minima have the same bits for every number of
/// places; a maximum or minimum of 0 is positive, and a NaN gives NaN. Sums of floating-point values are accumulated in
/// double, on each place in a fixed order, and then in the order of the places; exact_sum() gives the same bits for
/// every number of places. Waits for the result.
template <reduction By = reduction::sum, class F, class... Field>
  requires(sizeof...(Field) != 0 && (parallel::detail::is_loop_operand<Field> && ...))
auto parallel_reduce(const F& f, const Field&... fields) {
  if constexpr (parallel::detail::check_loop<F, const Field&...>()) {
    using value = std::remove_cvref_t<typename parallel::detail::call_with_operands<F, const Field&...>::result::type>;
    constexpr bool of_elements = devplace::detail::is_element<value>,
                   divides = By != reduction::mean || !std::is_integral_v<value>;
    static_assert(of_elements,
                  "devplace: parallel_reduce: the functor must return an element, such as float or int64.");
    static_assert(divides,
                  "devplace: parallel_reduce: the mean of integers is not an integer; return float or double.");
    if constexpr (of_elements && divides) {
      return static_cast<value>(parallel::detail::reduce_fields<By>(f, fields...));
    } else {
      return value{};
    }
  } else {
    return devplace::detail::refusal{};
  }
}

/// The sum of `f(x, y, ...)` over the cells, as parallel_reduce() computes it, but with the same bits for every number
/// and arrangement of places and processes. The values are rounded to multiples of 2^-88 of the largest magnitude, and
/// these are added as integers, which takes two passes, about four times as long. Infinities and NaN give NaN or
/// infinity.
template <class F, class... Field>
  requires(sizeof...(Field) != 0 && (parallel::detail::is_loop_operand<Field> && ...))
double exact_sum(const F& f, const Field&... fields) {
  if constexpr (parallel::detail::check_loop<F, const Field&...>()) {
    const double largest =
        parallel::detail::reduce_fields<reduction::max>(parallel::detail::magnitude_of<F>{f}, fields...);
    if (!std::isfinite(largest) || largest <= 0)
      return largest == 0 ? 0 : static_cast<double>(parallel::detail::reduce_fields<reduction::sum>(f, fields...));
    int exponent = 0;
    std::frexp(largest, &exponent);
    exponent = std::max(exponent, -1000);
    auto sum = parallel::detail::reduce_fields<reduction::sum>(
        parallel::detail::digits_of<F>{f, std::ldexp(1.0, -exponent)}, fields...);
    return std::ldexp(sum.value(), exponent);
  } else {
    return 0;
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
