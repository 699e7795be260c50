// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/reduce_on_place.hpp>
#include <devplace/ops/detail/reduced_axes.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/place/algebra.hpp>
#include <devplace/tensor/evaluated.hpp>

namespace devplace {

// sum, mean, max, min, prod, any, all, count_nonzero over all elements, `sum(x)`, or along any set of axes, `sum(x,
// axis<0>{}, axis<2>{})`; argmax and argmin over all elements or along one axis. statistics.hpp adds norms, variances
// and logsumexp. Axes may also be numbers, `sum(x, 1)`; negative numbers count from the end. All extents of the result
// are then dynamic: dextents<rank - 1>. Results are new tensors on x's place; `item(sum(x))` is a number on the host.
// sum_into, mean_into and max_into (reduce_into.hpp) write to existing memory. Sums and products are accumulated in
// double (int64 for integers) in blocks of fixed size. Therefore the error of a sum grows with the logarithm of the
// number of elements, and the bits depend neither on the number of threads nor on the run. An expression is computed
// while it is reduced if all its tensors are row-major with its extents and no function such as exp is in it. Other
// expressions, non-contiguous views, and arrays whose reduced axes are not adjacent are first evaluated in workspace.
//
// For an operand over several places, each place reduces its local tensor, without communication and concurrently; axes
// are given as types. The result of a replicated operand is replicated. The result of a split operand stays split if
// the split axis remains; otherwise it is partial: partial<sum> for sum and count_nonzero, partial<max> for max and
// any, partial<min> for min and all; the other reductions reject a split axis. Sums and means of partial sums are
// partial.

/// An operand of a reduction: a tensor, a view, or an expression (ops/elementwise.hpp).
template <class X>
concept reducible = tensor_like<X> || detail::is_expression_type<std::remove_cvref_t<X>>;

}  // namespace devplace

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Arguments that reductions take or reject with an error message.
template <class X, class... Axes>
concept reduction_call = (reducible<X> && ((axis_argument<Axes> || accepted_argument<const Axes&>) && ...)) ||
                         (is_foreign_array<std::remove_cvref_t<X>> && (axis_argument<Axes> && ...));

/// `type` is the placement of a reduction's result, or `why` is the reason why the algebra of placements rejects the
/// reduction. `type` is void for operands on one place and for axes given as numbers, which no rule of the algebra
/// treats.
template <class Operation, class X, class... Axes> struct reduced_placement : result_unless<mismatch::none, void> {};
template <class Operation, distributed_operand X, std::size_t... N>
struct reduced_placement<Operation, X, axis<N>...> : reduction_result<Operation::kind, placement_type_of<X>, N...> {};
template <class Operation, class X, class... Axes>
using reduced_placement_t = typename reduced_placement<Operation, X, Axes...>::type;

/// Whether the algebra of placements and the types allow a reduction; if not, an assertion fails. `X` is
/// deduced from a forwarding reference.
template <class Operation, class X, class... Axes> constexpr auto can_reduce() {
  constexpr bool operand_and_axes = reducible<X> && (axis_argument<Axes> && ...);
  static_assert(operand_and_axes,
                "devplace: a reduction takes one tensor, view or expression and the axes, as in sum(x, axis<0>{}); the "
                "larger elements of two operands are maximum(a, b).");
  if constexpr (operand_and_axes) {
    constexpr std::size_t rank = std::remove_cvref_t<X>::rank;
    constexpr bool types = (is_axis<Axes> && ...), distributed = distributed_operand<X>,
                   stored = no_named_expressions<X>, one_kind = types || (std::integral<Axes> && ...),
                   named = types || !distributed, exist = axes_exist<rank, Axes...>, differ = axes_differ<Axes...>,
                   enough = types || sizeof...(Axes) <= rank,
                   floating = !std::is_same_v<Operation, mean_operation> || !std::is_integral_v<value_type_of<X>>,
                   of_reals = !requires { Operation::floating_only; } || !std::is_integral_v<value_type_of<X>>,
                   one_axis = Operation::kind != reducing::position || sizeof...(Axes) <= 1;
    constexpr mismatch why = reduced_placement<Operation, X, Axes...>::why;
    constexpr bool linear = why != mismatch::nonlinear, mean_of_whole = why != mismatch::mean_of_parts,
                   position_in_whole = why != mismatch::position_in_parts, whole_rows = why != mismatch::parts_of_rows;
    static_assert(stored, DEVPLACE_DETAIL_NAMED_EXPRESSION);
    static_assert(one_kind, "devplace: a reduction takes its axes either as axis<N>{} or as numbers.");
    static_assert(named,
                  "devplace: the placement of a distributed operand's reduction depends on the axis; name it by a "
                  "type, as in sum(x, axis<1>{}).");
    static_assert(exist, "devplace: the reduced axis does not exist; axes count from 0 to rank - 1.");
    static_assert(differ, "devplace: an axis is reduced twice; name each axis once.");
    static_assert(enough, "devplace: more axes are reduced than the array has.");
    static_assert(floating,
                  "devplace: mean: the mean of integers is not an integer; convert with cast<float>(x) first.");
    static_assert(of_reals,
                  "devplace: norm, variance, standard_deviation and logsumexp take floating-point elements; convert "
                  "integers first with cast<float>(x).");
    static_assert(one_axis,
                  "devplace: argmax and argmin: a position is a number along one axis, or in the whole array; name one "
                  "axis, or reshape several to one.");
    static_assert(linear, DEVPLACE_DETAIL_NONLINEAR);
    static_assert(mean_of_whole,
                  "devplace: mean: the parts of the split axis can differ in size, and then the mean of the parts' "
                  "means is not the mean of the whole; divide the sum, all_reduce(sum(x)), by the number of elements.");
    static_assert(position_in_whole,
                  "devplace: argmax, argmin: a position in a part is not the position in the whole; gather<on<P>>(x) "
                  "first, or work along an axis that is not split.");
    static_assert(whole_rows,
                  "devplace: prod, norm, variance, standard_deviation, logsumexp: results of the parts of the split "
                  "axis do not combine; gather<on<P>>(x) first, or reduce along an axis that is not split.");
    return stored && one_kind && named && exist && differ && enough && of_reals && one_axis && why == mismatch::none;
  } else {
    return false;
  }
}

template <class Operation, class X, class... Axes> auto reduced(X&& x, const Axes&... axes) {
  if constexpr (can_reduce<Operation, X, Axes...>()) {
    using plain = std::remove_cvref_t<X>;
    using value = typename Operation::template result<typename plain::value_type>;
    const auto extents = remaining_extents(x.extents(), axes...);
    using extents_type = std::remove_const_t<decltype(extents)>;
    if constexpr (distributed_operand<X>) {
      const auto& source = evaluated(x);
      auto result = make_like<value, reduced_placement_t<Operation, X, Axes...>>(extents, source);
      reduce_on_places(Operation{}, source, result, axes...);
      return result;
    } else {
      typename result_on<value, extents_type, typename plain::placement_type>::type result(extents);
      reduce_on_place(Operation{}, x, as_any_view(result), axes...);
      return result;
    }
  } else {
    return refusal{};
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Sums, in x's element type or, for integers, in int64. 0 without elements.
template <class... Axes, detail::reduction_call<Axes...> X> auto sum(X&& x, const Axes&... axes) {
  return detail::reduced<detail::sum_operation>(std::forward<X>(x), axes...);
}

/// Means of float or double elements. NaN without elements.
template <class... Axes, detail::reduction_call<Axes...> X> auto mean(X&& x, const Axes&... axes) {
  return detail::reduced<detail::mean_operation>(std::forward<X>(x), axes...);
}

/// Largest elements; NaN if any element is NaN. Throws argument_error without elements.
template <class... Axes, detail::reduction_call<Axes...> X> auto max(X&& x, const Axes&... axes) {
  return detail::reduced<detail::extremum_operation<true>>(std::forward<X>(x), axes...);
}

/// Smallest elements; NaN if any element is NaN. Throws argument_error without elements.
template <class... Axes, detail::reduction_call<Axes...> X> auto min(X&& x, const Axes&... axes) {
  return detail::reduced<detail::extremum_operation<false>>(std::forward<X>(x), axes...);
}

/// Products, in x's element type or, for integers, in int64. 1 without elements. Accumulates in double.
template <class... Axes, detail::reduction_call<Axes...> X> auto prod(X&& x, const Axes&... axes) {
  return detail::reduced<detail::product_operation>(std::forward<X>(x), axes...);
}

/// Whether any element differs from 0: 1 or 0, as uint8. NaN differs from 0. 0 without elements.
template <class... Axes, detail::reduction_call<Axes...> X> auto any(X&& x, const Axes&... axes) {
  return detail::reduced<detail::nonzero_operation<detail::nonzero::any>>(std::forward<X>(x), axes...);
}

/// Whether all elements differ from 0: 1 or 0, as uint8. NaN differs from 0. 1 without elements.
template <class... Axes, detail::reduction_call<Axes...> X> auto all(X&& x, const Axes&... axes) {
  return detail::reduced<detail::nonzero_operation<detail::nonzero::all>>(std::forward<X>(x), axes...);
}

/// The number of elements that differ from 0, as int64: `count_nonzero(x > 0)`.
template <class... Axes, detail::reduction_call<Axes...> X> auto count_nonzero(X&& x, const Axes&... axes) {
  return detail::reduced<detail::nonzero_operation<detail::nonzero::number>>(std::forward<X>(x), axes...);
}

/// Position of the largest element, as int64: in the whole array in row-major order, or along one axis, as in
/// `argmax(logits, axis<1>{})`, the class of each row. Of equal elements, the first one counts; NaN counts as largest.
/// Throws argument_error without elements.
template <class... Axes, detail::reduction_call<Axes...> X> auto argmax(X&& x, const Axes&... axes) {
  return detail::reduced<detail::position_operation<true>>(std::forward<X>(x), axes...);
}

/// Position of the smallest element; NaN counts as smallest. Other rules are those of argmax.
template <class... Axes, detail::reduction_call<Axes...> X> auto argmin(X&& x, const Axes&... axes) {
  return detail::reduced<detail::position_operation<false>>(std::forward<X>(x), axes...);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
