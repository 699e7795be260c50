// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/ops/reduce.hpp>

namespace devplace {

// Reductions into existing memory, for steps that must not allocate. Sums are accumulated as in reduce.hpp; results and
// operands are tensors or views on one place. The result is row-major; an operand with strides is copied to a
// temporary.

}  // namespace devplace

namespace devplace::detail {

/// 1 where two arrays of integers are equal, 0 elsewhere.
template <class A, class B>
struct equality_source {
  const A* a;
  const B* b;
  DEVPLACE_HD std::int64_t operator()(std::size_t i) const {
    return static_cast<std::int64_t>(a[i]) == static_cast<std::int64_t>(b[i]) ? 1 : 0;
  }
};

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Reduces all elements of a tensor or view.
template <class X, class Reducer>
void reduce_everything(const X& x, const Reducer& reducer) {
  const auto from = as_window(x);
  reduce_axes<false>(from, reduced_axes<std::remove_const_t<decltype(from)>::rank>(), reducer);
}

template <class Y, class T, class X>
constexpr void check_reduction_result() {
  static_assert(on_one_device<Y, X>,
                "devplace: a reduction's result and operand live on different places; move one with to<on<...>>(x).");
  static_assert(writable<Y>, "devplace: the elements of a reduction's result are const.");
  static_assert(std::is_same_v<operand_element_t<Y>, T>,
                "devplace: a reduction's result has the wrong element type: sums have the operand's type (int64 for "
                "integers), positions and counts are int64.");
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// result = sum of all elements of x. `result` is a scalar (extents<>) of x's element type, int64 for integers.
template <tensor_like Result, tensor_like X>
void sum_into(Result&& result, const X& x) {
  using value = detail::operand_element_t<X>;
  detail::check_reduction_result<Result, detail::sum_result_t<value>, X>();
  static_assert(detail::operand_extents_t<Result>::rank == 0, "devplace: sum_into: the result must be a scalar.");
  const auto to = detail::as_view(result);
  detail::require_one_device("sum", to, detail::as_window(x));
  detail::reduce_everything(x, detail::sum_reducer<value>{to.data(), 0});
}

/// result = sum of the squares of all elements of x, a float or double array; `result` is a scalar (extents<>).
template <tensor_like Result, tensor_like X>
void sum_of_squares_into(Result&& result, const X& x) {
  using value = detail::operand_element_t<X>;
  static_assert(floating_element<value>, "devplace: sum_of_squares_into: the elements must be float or double.");
  detail::check_reduction_result<Result, value, X>();
  static_assert(detail::operand_extents_t<Result>::rank == 0,
                "devplace: sum_of_squares_into: the result must be a scalar.");
  const auto to = detail::as_view(result);
  detail::require_one_device("sum_of_squares", to, detail::as_window(x));
  detail::reduce_everything(x, detail::square_sum_reducer<value>{to.data()});
}

/// y = beta * y + column sums of x: the gradient of a bias. Shapes: y [n], x [m, n]. With beta 0, y is not read. Sums
/// of no rows are 0.
template <tensor_like Y, tensor_like X>
void column_sum_into(Y&& y, const X& x, detail::sum_result_t<detail::operand_element_t<X>> beta = 0) {
  using value = detail::operand_element_t<X>;
  detail::check_reduction_result<Y, detail::sum_result_t<value>, X>();
  static_assert(detail::operand_extents_t<Y>::rank == 1 && detail::operand_extents_t<X>::rank == 2,
                "devplace: column_sum_into: the result must have rank 1 and the operand rank 2.");
  static_assert(
      detail::compatible<detail::operand_extents_t<Y>, detail::extents_without_t<detail::operand_extents_t<X>, 0>>,
      "devplace: column_sum_into: the result must have one element for each column.");
  const auto to = detail::as_view(y);
  const auto from = detail::as_window(x);
  detail::require_one_device("column_sum", to, from);
  if (to.extent(0) != from.extent(1))
    throw shape_error("column_sum: the result has " + std::to_string(to.extent(0)) + " elements and the operand " +
                      std::to_string(from.extent(1)) + " columns; they must agree.");
  detail::reduce_axes<false>(from, {true, false}, detail::sum_reducer<value>{to.data(), beta});
}

/// y = positions of the largest elements along the last axis of x: the predicted class of each row. Shapes: y [m], x
/// [m, n]; y is int64. Ties and NaN as in argmax. Throws argument_error when n is 0.
template <tensor_like Y, tensor_like X>
void argmax_into(Y&& y, const X& x) {
  using value = detail::operand_element_t<X>;
  detail::check_reduction_result<Y, std::int64_t, X>();
  static_assert(detail::operand_extents_t<Y>::rank == 1 && detail::operand_extents_t<X>::rank == 2,
                "devplace: argmax_into: the result must have rank 1 and the operand rank 2.");
  static_assert(
      detail::compatible<detail::operand_extents_t<Y>, detail::extents_without_t<detail::operand_extents_t<X>, 1>>,
      "devplace: argmax_into: the result must have one element for each row.");
  const auto to = detail::as_view(y);
  const auto from = detail::as_window(x);
  detail::require_one_device("argmax", to, from);
  if (to.extent(0) != from.extent(0))
    throw shape_error("argmax: the result has " + std::to_string(to.extent(0)) + " elements and the operand " +
                      std::to_string(from.extent(0)) + " rows; they must agree.");
  detail::require_elements("argmax", from.extent(1));
  detail::reduce_axes<false>(from, {false, true}, detail::extremum_position_reducer<value, true>{to.data()});
}

/// count = beta * count + number of elements in which two integer arrays of equal extents agree, as an int64 scalar
/// (extents<>): `argmax_into(classes, logits); count_equal_into(correct, classes, labels);` counts correct predictions.
/// With beta 0, count is not read.
template <tensor_like Count, tensor_like A, tensor_like B>
void count_equal_into(Count&& count, const A& a, const B& b, std::int64_t beta = 0) {
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
  const auto first_elements = detail::packed(detail::as_window(a));
  const auto second_elements = detail::packed(detail::as_window(b));
  const auto& first = first_elements.view;
  const auto& second = second_elements.view;
  detail::require_one_device("count_equal", to, first, second);
  detail::require_same_extents("count_equal", "the first operand", first, "the second", second);
  using source = detail::equality_source<a_value, b_value>;
  using reducer = detail::sum_reducer<std::int64_t>;
  detail::reduce<detail::operand_backend_t<Count>>(
      to.ordinal(), detail::reduction_plan<source, reducer>{1, first.size(), 1, source{first.data(), second.data()},
                                                            reducer{to.data(), beta}});
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
