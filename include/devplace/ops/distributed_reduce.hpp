// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/expression.hpp>
#include <devplace/ops/detail/limits.hpp>
#include <devplace/ops/detail/placement_check.hpp>
#include <devplace/ops/reduce.hpp>

namespace devplace {

/// Appears in the compiler's message when an axis of a distributed operand is given as a number.
struct NAME_THE_AXIS_BY_A_TYPE_AS_IN_axis_1;

}  // namespace devplace

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// The extremum of no elements: the neutral element, which does not affect other places' results.
template <class T, bool Largest>
constexpr T extremum_of_nothing() {
  if constexpr (std::is_floating_point_v<T>)
    return Largest ? -infinity<T> : infinity<T>;
  else
    return Largest ? lowest_number<T> : highest_number<T>;
}

template <class Operation, class T, class E, class Where, std::size_t... N>
auto reduced_on_places(const tensor<T, E, Where>& x, axis<N>... axes) {
  using rule = reduction_result<Operation::kind, Where, N...>;
  Operation::template check<T>();
  constexpr std::array<bool, E::rank> reduced = reduced_axes<E::rank>(axis<N>{}...);
  if constexpr (common_result<rule>::value) {
    using result_element = typename Operation::template result<T>;
    auto result = make_like<result_element, typename rule::type>(remaining_extents(x.extents(), reduced, axes...), x);
    const bool has_elements = reduction_extents_of(sizes_of(x.extents()), reduced).count != 0;
    for (std::size_t k = 0; k != x.places; ++k) {
      const auto from = x.local(k);
      const auto to = result.local(k);
      const std::size_t count = reduction_extents_of(sizes_of(from.extents()), reduced).count;
      constexpr bool largest = Operation::kind == reducing::max;
      if ((largest || Operation::kind == reducing::min) && count == 0 && has_elements)
        fill(to, static_cast<result_element>(extremum_of_nothing<T, largest>()));
      else
        reduce_axes<may_be_scattered<E::rank, axis<N>...>()>(from, reduced,
                                                             Operation::template reducer<T>(to.data(), count));
    }
    return result;
  }
}

/// An expression is evaluated into a tensor first.
template <class Operation, class Where, class F, class... Operands, class... Axes>
auto reduced_on_places(const expression<Where, F, Operands...>& x, Axes... axes) {
  using source = expression<Where, F, Operands...>;
  return reduced_on_places<Operation>(tensor<typename source::value_type, typename source::extents_type, Where>(x),
                                      axes...);
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

// The reductions of ops/reduce.hpp for distributed tensors. Each place reduces its local tensor without communication,
// all places concurrently. The result for a replicated tensor is replicated. For a split one it is split along an axis
// that remains, and partial if the split axis is reduced: partial<sum> for sum, partial<max> for max, partial<min> for
// min; mean and positions have no such form. Sums and means of partial sums are partial. Errors and element types are
// as on one place.
#define DEVPLACE_DETAIL_DISTRIBUTED_REDUCTION(name, operation)                                                   \
  template <detail::distributed_operand X, std::size_t... N>                                                     \
  auto name(const X& x, axis<N>... axes) {                                                                       \
    return detail::reduced_on_places<detail::operation>(x, axes...);                                             \
  }                                                                                                              \
  template <detail::distributed_operand X, class FIX = NAME_THE_AXIS_BY_A_TYPE_AS_IN_axis_1, std::integral... N> \
    requires(sizeof...(N) > 0)                                                                                   \
  void name(const X&, N...) = delete

/// Reductions of distributed operands over all elements or along axes. An axis is given as a type, because the result's
/// placement depends on it.
///@{
DEVPLACE_DETAIL_DISTRIBUTED_REDUCTION(sum, sum_operation);
DEVPLACE_DETAIL_DISTRIBUTED_REDUCTION(mean, mean_operation);
DEVPLACE_DETAIL_DISTRIBUTED_REDUCTION(max, extremum_operation<true>);
DEVPLACE_DETAIL_DISTRIBUTED_REDUCTION(min, extremum_operation<false>);
DEVPLACE_DETAIL_DISTRIBUTED_REDUCTION(argmax, position_operation<true>);
DEVPLACE_DETAIL_DISTRIBUTED_REDUCTION(argmin, position_operation<false>);
///@}

#undef DEVPLACE_DETAIL_DISTRIBUTED_REDUCTION

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
