// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/placed.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

namespace devplace {

// sum, mean, max, min and argmax, argmin over all elements, `sum(x)`, or along one axis, `sum<1>(x)`: the axis is part
// of the result's type. Results are new tensors on x's place; reading one on the CPU is `to<on<cpu>>(sum(x))()`.
// Sums are accumulated in double (int64 for integers) in blocks of fixed size, so that their error grows with the
// logarithm of the number of elements and their bits depend neither on the number of threads nor on the run. An
// expression is evaluated into a temporary first.

/// What can be reduced on one place: a tensor, a view, or an expression (ops/elementwise.hpp). For what lies over
/// several places: placed_reduce.hpp.
template <class X>
concept reducible = (tensor_like<X> && !detail::placed_tensor<X>) || requires {
  requires std::remove_cvref_t<X>::is_expression;
};

namespace detail {

/// A view of a tensor or view; an expression becomes a tensor.
template <reducible X>
auto evaluated(const X& x) {
  if constexpr (tensor_like<X>)
    return as_view(x);
  else
    return tensor<typename X::value_type, std::remove_cvref_t<decltype(x.extents())>, typename X::placement_type>(x);
}

template <reducible X>
using evaluated_t = decltype(evaluated(std::declval<const X&>()));

/// Reduces all elements of x.
template <class Tu, class X, class Reducer>
void reduce_all(const X& x, const Reducer& reducer) {
  using source = element_source<typename X::value_type>;
  reduce<typename X::backend_type, Tu>(x.ordinal(),
                                       reduction_plan<source, Reducer>{1, x.size(), 1, {x.data()}, reducer});
}

/// Reduces x along an axis.
template <std::size_t Axis, class Tu, class X, class Reducer>
void reduce_along(const X& x, const Reducer& reducer) {
  using source = element_source<typename X::value_type>;
  std::size_t outer = 1;
  for (std::size_t axis = 0; axis != Axis; ++axis)
    outer *= x.extent(axis);
  const reduction_plan<source, Reducer> plan{outer, x.extent(Axis), x.extents().stride(Axis), {x.data()}, reducer};
  reduce<typename X::backend_type, Tu>(x.ordinal(), plan);
}

/// A tensor for the result of a reduction of x over everything, made by `reducer(result data, number of elements)`.
template <class R, class Tu, class X, class MakeReducer>
auto reduced_all(const X& x, MakeReducer make_reducer) {
  result_beside_t<X, R, extents<>> result(extents<>{}, Tu{});
  reduce_all<Tu>(as_view(x), make_reducer(result.data(), x.size()));
  return result;
}

/// The same along an axis.
template <std::size_t Axis, class R, class Tu, class X, class MakeReducer>
auto reduced_along(const X& x, MakeReducer make_reducer) {
  using x_extents = operand_extents_t<X>;
  static_assert(Axis < x_extents::rank, "devplace: the reduced axis does not exist; axes count from 0 to rank - 1.");
  using remaining = without_axis<Axis, x_extents>;
  result_beside_t<X, R, typename remaining::type> result(remaining::from(x.extents()), Tu{});
  reduce_along<Axis, Tu>(as_view(x), make_reducer(result.data(), x.extent(Axis)));
  return result;
}

template <class R>
void require_floating_mean() {
  static_assert(floating_element<R>,
                "devplace: mean: the mean of integers is not an integer; convert with cast<float>(x) first.");
}

inline void require_elements(const char* operation, std::size_t count) {
  if (count == 0)
    throw argument_error(std::string(operation) +
                         ": there are no elements along the reduced axis, and so there is no " + operation +
                         "; test the extent first.");
}

/// Makers of reducers, for the functions above.
template <class T>
struct make_sum {
  auto operator()(sum_result_t<T>* result, std::size_t) const { return sum_reducer<T>{result, 0}; }
};
template <class T>
struct make_mean {
  auto operator()(T* result, std::size_t count) const { return mean_reducer<T>{result, static_cast<double>(count)}; }
};
template <class T, bool Largest>
struct make_extremum {
  auto operator()(T* result, std::size_t count) const {
    require_elements(Largest ? "max" : "min", count);
    return extremum_reducer<T, Largest>{result};
  }
};
template <class T, bool Largest>
struct make_extremum_position {
  auto operator()(std::int64_t* result, std::size_t count) const {
    require_elements(Largest ? "argmax" : "argmin", count);
    return extremum_position_reducer<T, Largest>{result};
  }
};

/// 1 where two arrays of integers agree.
template <class A, class B>
struct equality_source {
  const A* a;
  const B* b;
  DEVPLACE_HD std::int64_t operator()(std::size_t i) const {
    return static_cast<std::int64_t>(a[i]) == static_cast<std::int64_t>(b[i]) ? 1 : 0;
  }
};

template <class Y, class T, class X>
constexpr void check_reduction_result() {
  static_assert(on_one_device<Y, X>,
                "devplace: a reduction's result and operand live on different places; move one with to<on<...>>(x).");
  static_assert(writable<Y>, "devplace: the elements of a reduction's result are const.");
  static_assert(std::is_same_v<operand_element_t<Y>, T>,
                "devplace: a reduction's result has the wrong element type: sums have the operand's type (int64 for "
                "integers), positions and counts are int64.");
}

}  // namespace detail

/// Sum of all elements: a scalar tensor on x's place, of x's element type, int64 for integers. 0 without elements.
template <class Tu = detail::this_tu, reducible X>
auto sum(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_all<detail::sum_result_t<value>, Tu>(detail::evaluated(x), detail::make_sum<value>{});
}

/// Sums along an axis.
template <std::size_t Axis, class Tu = detail::this_tu, reducible X>
auto sum(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_along<Axis, detail::sum_result_t<value>, Tu>(detail::evaluated(x), detail::make_sum<value>{});
}

/// Mean of all elements of a float or double array: a scalar tensor on x's place. NaN without elements.
template <class Tu = detail::this_tu, reducible X>
auto mean(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  detail::require_floating_mean<value>();
  return detail::reduced_all<value, Tu>(detail::evaluated(x), detail::make_mean<value>{});
}

/// Means along an axis.
template <std::size_t Axis, class Tu = detail::this_tu, reducible X>
auto mean(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  detail::require_floating_mean<value>();
  return detail::reduced_along<Axis, value, Tu>(detail::evaluated(x), detail::make_mean<value>{});
}

/// Largest element, NaN if there is one: a scalar tensor on x's place. Throws argument_error without elements.
template <class Tu = detail::this_tu, reducible X>
auto max(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_all<value, Tu>(detail::evaluated(x), detail::make_extremum<value, true>{});
}

/// Largest elements along an axis.
template <std::size_t Axis, class Tu = detail::this_tu, reducible X>
auto max(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_along<Axis, value, Tu>(detail::evaluated(x), detail::make_extremum<value, true>{});
}

/// Smallest element, NaN if there is one: a scalar tensor on x's place. Throws argument_error without elements.
template <class Tu = detail::this_tu, reducible X>
auto min(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_all<value, Tu>(detail::evaluated(x), detail::make_extremum<value, false>{});
}

/// Smallest elements along an axis.
template <std::size_t Axis, class Tu = detail::this_tu, reducible X>
auto min(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_along<Axis, value, Tu>(detail::evaluated(x), detail::make_extremum<value, false>{});
}

/// Position, in row-major order, of the largest element: the first of equal ones; a NaN counts as largest. A scalar
/// int64 tensor on x's place. Throws argument_error without elements.
template <class Tu = detail::this_tu, reducible X>
auto argmax(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_all<std::int64_t, Tu>(detail::evaluated(x), detail::make_extremum_position<value, true>{});
}

/// Positions of the largest elements along an axis: `argmax<1>(logits)` is the class of each row.
template <std::size_t Axis, class Tu = detail::this_tu, reducible X>
auto argmax(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_along<Axis, std::int64_t, Tu>(detail::evaluated(x),
                                                       detail::make_extremum_position<value, true>{});
}

/// Position of the smallest element, otherwise as argmax.
template <class Tu = detail::this_tu, reducible X>
auto argmin(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_all<std::int64_t, Tu>(detail::evaluated(x), detail::make_extremum_position<value, false>{});
}

/// Positions of the smallest elements along an axis.
template <std::size_t Axis, class Tu = detail::this_tu, reducible X>
auto argmin(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_along<Axis, std::int64_t, Tu>(detail::evaluated(x),
                                                       detail::make_extremum_position<value, false>{});
}

/// result = sum of all elements of x. `result` is a scalar (extents<>) of x's element type, int64 for integers.
template <class Tu = detail::this_tu, tensor_like Result, tensor_like X>
void sum_into(Result&& result, const X& x) {
  using value = detail::operand_element_t<X>;
  detail::check_reduction_result<Result, detail::sum_result_t<value>, X>();
  static_assert(detail::operand_extents_t<Result>::rank == 0, "devplace: sum_into: the result must be a scalar.");
  const auto to = detail::as_view(result);
  detail::require_one_device("sum", to, detail::as_view(x));
  detail::reduce_all<Tu>(detail::as_view(x), detail::sum_reducer<value>{to.data(), 0});
}

/// result = sum of the squares of all elements of x, a float or double array; `result` is a scalar (extents<>).
template <class Tu = detail::this_tu, tensor_like Result, tensor_like X>
void sum_of_squares_into(Result&& result, const X& x) {
  using value = detail::operand_element_t<X>;
  static_assert(floating_element<value>, "devplace: sum_of_squares_into: the elements must be float or double.");
  detail::check_reduction_result<Result, value, X>();
  static_assert(detail::operand_extents_t<Result>::rank == 0,
                "devplace: sum_of_squares_into: the result must be a scalar.");
  const auto to = detail::as_view(result);
  detail::require_one_device("sum_of_squares", to, detail::as_view(x));
  detail::reduce_all<Tu>(detail::as_view(x), detail::square_sum_reducer<value>{to.data()});
}

/// y = beta * y + the sums of the columns of x: the gradient of a bias. Shapes: y [n], x [m, n]. With beta 0, y is not
/// read. The sums of no rows are 0.
template <class Tu = detail::this_tu, tensor_like Y, tensor_like X>
void column_sum_into(Y&& y, const X& x, detail::sum_result_t<detail::operand_element_t<X>> beta = 0) {
  using value = detail::operand_element_t<X>;
  detail::check_reduction_result<Y, detail::sum_result_t<value>, X>();
  static_assert(detail::operand_extents_t<Y>::rank == 1 && detail::operand_extents_t<X>::rank == 2,
                "devplace: column_sum_into: the result must have rank 1 and the operand rank 2.");
  using x_shape = detail::without_axis<0, detail::operand_extents_t<X>>;
  static_assert(detail::compatible<detail::operand_extents_t<Y>, typename x_shape::type>,
                "devplace: column_sum_into: the result must have one element for each column.");
  const auto to = detail::as_view(y);
  const auto from = detail::as_view(x);
  detail::require_one_device("column_sum", to, from);
  if (to.extent(0) != from.extent(1))
    throw shape_error("column_sum: the result has " + std::to_string(to.extent(0)) + " elements and the operand " +
                      std::to_string(from.extent(1)) + " columns; they must agree.");
  detail::reduce_along<0, Tu>(from, detail::sum_reducer<value>{to.data(), beta});
}

/// y = positions of the largest elements along the last axis of x: the predicted class of each row. Shapes: y [m], x
/// [m, n]; y is int64. Ties and NaN as in argmax. Throws argument_error when n is 0.
template <class Tu = detail::this_tu, tensor_like Y, tensor_like X>
void argmax_into(Y&& y, const X& x) {
  using value = detail::operand_element_t<X>;
  detail::check_reduction_result<Y, std::int64_t, X>();
  static_assert(detail::operand_extents_t<Y>::rank == 1 && detail::operand_extents_t<X>::rank == 2,
                "devplace: argmax_into: the result must have rank 1 and the operand rank 2.");
  using x_shape = detail::without_axis<1, detail::operand_extents_t<X>>;
  static_assert(detail::compatible<detail::operand_extents_t<Y>, typename x_shape::type>,
                "devplace: argmax_into: the result must have one element for each row.");
  const auto to = detail::as_view(y);
  const auto from = detail::as_view(x);
  detail::require_one_device("argmax", to, from);
  if (to.extent(0) != from.extent(0))
    throw shape_error("argmax: the result has " + std::to_string(to.extent(0)) + " elements and the operand " +
                      std::to_string(from.extent(0)) + " rows; they must agree.");
  detail::require_elements("argmax", from.extent(1));
  detail::reduce_along<1, Tu>(from, detail::extremum_position_reducer<value, true>{to.data()});
}

/// count = in how many places two integer arrays of equal extents agree, as a scalar (extents<>) of int64:
/// `argmax_into(classes, logits); count_equal_into(correct, classes, labels);` counts the correct predictions.
template <class Tu = detail::this_tu, tensor_like Count, tensor_like A, tensor_like B>
void count_equal_into(Count&& count, const A& a, const B& b) {
  using a_value = detail::operand_element_t<A>;
  using b_value = detail::operand_element_t<B>;
  static_assert(!floating_element<a_value> && !floating_element<b_value>,
                "devplace: count_equal_into: compares integers (int64, int32, uint8), such as classes and labels.");
  detail::check_reduction_result<Count, std::int64_t, A>();
  detail::check_reduction_result<Count, std::int64_t, B>();
  static_assert(detail::operand_extents_t<Count>::rank == 0,
                "devplace: count_equal_into: the result must be a scalar.");
  static_assert(detail::compatible<detail::operand_extents_t<A>, detail::operand_extents_t<B>>,
                "devplace: count_equal_into: the operands must have the same extents.");
  const auto to = detail::as_view(count);
  const auto first = detail::as_view(a);
  const auto second = detail::as_view(b);
  detail::require_one_device("count_equal", to, first, second);
  detail::require_same_extents("count_equal", "the first operand", first, "the second", second);
  using source = detail::equality_source<a_value, b_value>;
  using reducer = detail::sum_reducer<std::int64_t>;
  detail::reduce<detail::operand_backend_t<Count>, Tu>(
      to.ordinal(), detail::reduction_plan<source, reducer>{1, first.size(), 1, source{first.data(), second.data()},
                                                            reducer{to.data(), 0}});
}

}  // namespace devplace

#include <devplace/ops/placed_reduce.hpp>
