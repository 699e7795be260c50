// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/reduced_axes.hpp>
#include <devplace/ops/detail/sort_plan.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/sorted_elements.hpp>
#include <devplace/tensor/evaluated.hpp>

// Sorting along the last axis or another one, as torch.sort and torch.topk: stable, with -0 equal to 0 and NaN above
// all numbers. The order is the same on every place. CUDA devices sort all rows at once with CUB. all.hpp does not
// include these operations, because they include CUB's headers. Scratch memory is allocated on the place and counted as
// workspace.

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Sorts each row of x and stores the first `kept` elements, the positions of these elements, or both, as outer x kept
/// x inner elements with outer * inner rows; a null pointer omits a result.
template <class X>
void sort_rows(const X& x, const row_shape& shape, std::size_t inner, std::size_t kept, sort_order order,
               typename X::value_type* values, std::int64_t* positions) {
  using T = typename X::value_type;
  using backend_type = typename X::backend_type;
  if (shape.rows * kept == 0) return;
  if (shape.rows > 0xffffffff)
    throw shape_error(
        {"sort: ", shape.rows, " rows are more than can be sorted at once, 2^32 - 1; sort slices of them."});
  const bool in_place = positions != nullptr && kept == shape.columns && inner == 1;
  const memory_block memory =
      allocate<backend_type>(x.ordinal(), in_place ? 0 : x.size() * sizeof(std::int64_t), memory_purpose::workspace);
  std::int64_t* const indices = in_place ? positions : static_cast<std::int64_t*>(memory.data());
  dispatch<op::sort, backend_type>(x.ordinal(), sort_plan<T>{raw_data(x), shape.rows, shape.columns, kept,
                                                             order == sort_order::descending, indices});
  for_each_index<backend_type>(x.ordinal(), shape.rows * kept, 4096,
                               take_sorted<T>{raw_data(x), indices, shape.columns, kept, inner, values, positions});
}

[[noreturn]] inline void throw_too_many_kept(std::size_t k, std::size_t columns) {
  throw argument_error(
      {"top_k: ", k, " elements were asked for and a row has ", columns, "; ask for at most that many."});
}

/// Returns f(rows, shape, inner), where `rows` are the lines of x along its last or the given axis.
template <class F, class X, class... Axis> auto with_rows(const F& f, const X& x, Axis... axis) {
  if constexpr (sizeof...(Axis) == 0) {
    return f(x, rows_of(x.extents()), 1);
  } else {
    const auto along = reduced_axes<X::rank>(axis...);
    const reduction_extents e = reduction_extents_of(sizes_of(x.extents()), along);
    return f(packed_with_reduced_last(x, along).view, row_shape{e.outer * e.inner, e.count}, e.inner);
  }
}

/// The extents e, with k for the last or the given axis.
template <class E, std::size_t N = E::rank - 1> auto with_count(const E& e, std::size_t k, axis<N> = {}) {
  return with_dynamic_axis<E, N>::with(k, e);
}
template <class E, std::integral Axis> auto with_count(const E& e, std::size_t k, Axis axis) {
  const auto along = reduced_axes<E::rank>(axis);
  shape result{.rank = E::rank};
  for (std::size_t n = 0; n != E::rank; ++n) result.extents[n] = along[n] ? k : e.extent(n);
  return extents_from<dextents<E::rank>>(result);
}

/// Sorts x along its last or the given axis. Writes the elements or their positions to y.
template <bool Positions, class Y, class X, class... Axis>
auto sort_into(const char* operation, Y& y, const X& x, sort_order order, Axis... axis) {
  if constexpr (takes_on_one_place<Y, X>()) {
    using result = std::conditional_t<Positions, std::int64_t, operand_element_t<X>>;
    constexpr bool together = on_one_device<Y, X>, written = writable<Y>,
                   same = std::is_same_v<operand_element_t<Y>, result>,
                   exists = axes_exist<operand_extents_t<X>::rank, Axis...>,
                   fits = compatible<operand_extents_t<Y>, operand_extents_t<X>>;
    static_assert(together,
                  "devplace: sort: result and operand live on different places; move one with to<on<...>>(x).");
    static_assert(written, "devplace: sort: the result's elements are const; pass a tensor or view to write to.");
    static_assert(same,
                  "devplace: sort: the result has the wrong element type: values have the operand's type, "
                  "positions are int64.");
    static_assert(exists, "devplace: sort: the axis does not exist; axes count from 0 to rank - 1.");
    static_assert(fits, "devplace: sort: result and operand must have the same extents.");
    if constexpr (together && written && same && exists && fits) {
      const auto to = as_view(y);
      const auto from = as_view(x);
      require_one_device(operation, to, from);
      require_same_extents(operation, "the result", to, "the operand", from);
      if (share_elements(to, from))
        throw argument_error(
            "sort: the result shares memory with the operand, which is read while the result is written; sort into "
            "another tensor.");
      const auto sort = [&](const auto& rows, const row_shape& shape, std::size_t inner) {
        if constexpr (Positions)
          sort_rows(rows, shape, inner, shape.columns, order, nullptr, raw_data(to));
        else
          sort_rows(rows, shape, inner, shape.columns, order, raw_data(to), nullptr);
      };
      with_rows(sort, from, axis...);
    }
  }
}

template <bool Positions, class Operand, class... Axis>
auto sorted(const char* operation, Operand&& operand, sort_order order, Axis... axis) {
  using X = evaluated_value_t<Operand>;
  if constexpr (check_unnamed<Operand>() && takes_on_one_place<X>()) {
    const auto& x = evaluated(operand);
    using value = std::conditional_t<Positions, std::int64_t, operand_element_t<X>>;
    result_beside_t<X, value, operand_extents_t<X>> y(x.extents());
    sort_into<Positions>(operation, y, x, order, axis...);
    return y;
  } else {
    return refusal{};
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// y = x with each row (along the last axis) sorted. Shapes: x and y equal, any rank above 0; y must not share elements
/// with x (argument_error). In the order of the place's current stream. Different run-time extents throw shape_error.
template <detail::accepted_argument Y, detail::accepted_argument X>
void sort_into(Y&& y, const X& x, sort_order order = sort_order::ascending) {
  detail::sort_into<false>("sort", y, x, order);
}

/// y = x sorted along an axis, given as `axis<0>{}` or as a number. Other rules are those of sort_into of rows.
template <detail::accepted_argument Y, detail::accepted_argument X, axis_argument Axis>
void sort_into(Y&& y, const X& x, Axis axis, sort_order order = sort_order::ascending) {
  detail::sort_into<false>("sort", y, x, order, axis);
}

/// positions[i] = the position, in the original row, of element i of the sorted row, counted from 0. Type int64, with
/// x's extents. Equal elements keep their order, in descending sorts too.
template <detail::accepted_argument Y, detail::accepted_argument X>
void argsort_into(Y&& positions, const X& x, sort_order order = sort_order::ascending) {
  detail::sort_into<true>("argsort", positions, x, order);
}

/// positions = the positions along an axis. Other rules are those of argsort_into of rows.
template <detail::accepted_argument Y, detail::accepted_argument X, axis_argument Axis>
void argsort_into(Y&& positions, const X& x, Axis axis, sort_order order = sort_order::ascending) {
  detail::sort_into<true>("argsort", positions, x, order, axis);
}

/// x with each row sorted, as a new tensor on x's place. See sort_into.
template <detail::accepted_argument X> auto sort(X&& x, sort_order order = sort_order::ascending) {
  return detail::sorted<false>("sort", std::forward<X>(x), order);
}

/// x sorted along an axis, `sort(x, axis<0>{})`, as a new tensor on x's place. See sort_into.
template <detail::accepted_argument X, axis_argument Axis>
auto sort(X&& x, Axis axis, sort_order order = sort_order::ascending) {
  return detail::sorted<false>("sort", std::forward<X>(x), order, axis);
}

/// The positions of the sorted elements, as a new tensor on x's place. See argsort_into.
template <detail::accepted_argument X> auto argsort(X&& x, sort_order order = sort_order::ascending) {
  return detail::sorted<true>("argsort", std::forward<X>(x), order);
}

/// The positions along an axis, `argsort(x, axis<0>{})`, as a new tensor on x's place. See argsort_into.
template <detail::accepted_argument X, axis_argument Axis>
auto argsort(X&& x, Axis axis, sort_order order = sort_order::ascending) {
  return detail::sorted<true>("argsort", std::forward<X>(x), order, axis);
}

/// The k largest elements of each row, or of each line along a given axis, largest first, and their positions, as new
/// tensors on x's place: `auto [values, positions] = top_k(x, 5)`, `top_k(x, 5, axis<0>{})`. Both have extent k along
/// the axis. Equal elements keep their order; NaN counts as largest. Throws argument_error if a row has fewer than k
/// elements.
template <class Operand, axis_argument... Axis>
  requires(detail::accepted_argument<Operand> && sizeof...(Axis) <= 1)
auto top_k(Operand&& operand, std::size_t k, Axis... axis) {
  using X = detail::evaluated_value_t<Operand>;
  constexpr bool taken = detail::check_unnamed<Operand>() && detail::takes_on_one_place<X>(),
                 exists = !taken || detail::axes_exist<detail::operand_rank<X>, Axis...>;
  static_assert(exists, "devplace: top_k: the axis does not exist; axes count from 0 to rank - 1.");
  if constexpr (taken && exists) {
    const auto& x = evaluated(operand);
    const auto largest = [&](const auto& rows, const detail::row_shape& shape, std::size_t inner) {
      if (k > shape.columns) detail::throw_too_many_kept(k, shape.columns);
      const auto kept = detail::with_count(x.extents(), k, axis...);
      using kept_extents = std::remove_const_t<decltype(kept)>;
      detail::result_beside_t<X, detail::operand_element_t<X>, kept_extents> values(kept);
      detail::result_beside_t<X, std::int64_t, kept_extents> positions(kept);
      detail::sort_rows(rows, shape, inner, k, sort_order::descending, detail::raw_data(values),
                        detail::raw_data(positions));
      return sorted_elements<decltype(values), decltype(positions)>{std::move(values), std::move(positions)};
    };
    return detail::with_rows(largest, detail::as_view(x), axis...);
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include <devplace/backend/cpu/sort.hpp>
#include DEVPLACE_BACKENDS(sort)
