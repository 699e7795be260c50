// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

namespace devplace {

// sum, mean, max, min and argmax, argmin over all elements, `sum(x)`, or along one axis, `sum<1>(x)`: the axis is part
// of the result's type. Results are new tensors on x's place; reading one on the CPU is `to<on<cpu>>(sum(x))()`.
// reduce_into.hpp has those that write into memory that is there already.
// Sums are accumulated in double (int64 for integers) in blocks of fixed size, so that their error grows with the
// logarithm of the number of elements and their bits depend neither on the number of threads nor on the run. An
// expression is evaluated into a temporary first.

/// What can be reduced on one place: a tensor, a view, or an expression (ops/elementwise.hpp). For what lies over
/// several places: distributed_reduce.hpp.
template <class X>
concept reducible = (tensor_like<X> && !detail::distributed_tensor<X>) || requires {
  requires std::remove_cvref_t<X>::is_expression;
};

}  // namespace devplace

namespace devplace::detail {

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

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Reduces all elements of x.
template <class X, class Reducer>
void reduce_all(const X& x, const Reducer& reducer) {
  using source = element_source<typename X::value_type>;
  reduce<typename X::backend_type>(x.ordinal(), reduction_plan<source, Reducer>{1, x.size(), 1, {x.data()}, reducer});
}

/// Reduces x along an axis.
template <std::size_t Axis, class X, class Reducer>
void reduce_along(const X& x, const Reducer& reducer) {
  using source = element_source<typename X::value_type>;
  std::size_t outer = 1;
  for (std::size_t axis = 0; axis != Axis; ++axis)
    outer *= x.extent(axis);
  const reduction_plan<source, Reducer> plan{outer, x.extent(Axis), x.extents().stride(Axis), {x.data()}, reducer};
  reduce<typename X::backend_type>(x.ordinal(), plan);
}

/// A tensor for the result of a reduction of x over everything, made by `reducer(result data, number of elements)`.
template <class R, class X, class MakeReducer>
auto reduced_all(const X& x, MakeReducer make_reducer) {
  result_beside_t<X, R, extents<>> result(extents<>{});
  reduce_all(as_view(x), make_reducer(result.data(), x.size()));
  return result;
}

/// The same along an axis.
template <std::size_t Axis, class R, class X, class MakeReducer>
auto reduced_along(const X& x, MakeReducer make_reducer) {
  using x_extents = operand_extents_t<X>;
  static_assert(Axis < x_extents::rank, "devplace: the reduced axis does not exist; axes count from 0 to rank - 1.");
  using remaining = without_axis<Axis, x_extents>;
  result_beside_t<X, R, typename remaining::type> result(remaining::from(x.extents()));
  reduce_along<Axis>(as_view(x), make_reducer(result.data(), x.extent(Axis)));
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

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Sum of all elements: a scalar tensor on x's place, of x's element type, int64 for integers. 0 without elements.
template <reducible X>
auto sum(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_all<detail::sum_result_t<value>>(detail::evaluated(x), detail::make_sum<value>{});
}

/// Sums along an axis.
template <std::size_t Axis, reducible X>
auto sum(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_along<Axis, detail::sum_result_t<value>>(detail::evaluated(x), detail::make_sum<value>{});
}

/// Mean of all elements of a float or double array: a scalar tensor on x's place. NaN without elements.
template <reducible X>
auto mean(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  detail::require_floating_mean<value>();
  return detail::reduced_all<value>(detail::evaluated(x), detail::make_mean<value>{});
}

/// Means along an axis.
template <std::size_t Axis, reducible X>
auto mean(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  detail::require_floating_mean<value>();
  return detail::reduced_along<Axis, value>(detail::evaluated(x), detail::make_mean<value>{});
}

/// Largest element, NaN if there is one: a scalar tensor on x's place. Throws argument_error without elements.
template <reducible X>
auto max(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_all<value>(detail::evaluated(x), detail::make_extremum<value, true>{});
}

/// Largest elements along an axis.
template <std::size_t Axis, reducible X>
auto max(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_along<Axis, value>(detail::evaluated(x), detail::make_extremum<value, true>{});
}

/// Smallest element, NaN if there is one: a scalar tensor on x's place. Throws argument_error without elements.
template <reducible X>
auto min(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_all<value>(detail::evaluated(x), detail::make_extremum<value, false>{});
}

/// Smallest elements along an axis.
template <std::size_t Axis, reducible X>
auto min(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_along<Axis, value>(detail::evaluated(x), detail::make_extremum<value, false>{});
}

/// Position, in row-major order, of the largest element: the first of equal ones; a NaN counts as largest. A scalar
/// int64 tensor on x's place. Throws argument_error without elements.
template <reducible X>
auto argmax(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_all<std::int64_t>(detail::evaluated(x), detail::make_extremum_position<value, true>{});
}

/// Positions of the largest elements along an axis: `argmax<1>(logits)` is the class of each row.
template <std::size_t Axis, reducible X>
auto argmax(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_along<Axis, std::int64_t>(detail::evaluated(x), detail::make_extremum_position<value, true>{});
}

/// Position of the smallest element, otherwise as argmax.
template <reducible X>
auto argmin(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_all<std::int64_t>(detail::evaluated(x), detail::make_extremum_position<value, false>{});
}

/// Positions of the smallest elements along an axis.
template <std::size_t Axis, reducible X>
auto argmin(const X& x) {
  using value = typename detail::evaluated_t<X>::value_type;
  return detail::reduced_along<Axis, std::int64_t>(detail::evaluated(x),
                                                   detail::make_extremum_position<value, false>{});
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include <devplace/ops/distributed_reduce.hpp>
