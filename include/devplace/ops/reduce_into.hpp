// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/reduce.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// y = beta * y + column sums of x: the gradient of a bias. Shapes: y [n], x [m, n]. With beta 0, y is not read.
/// Without rows, sums are 0. On one place, in the order of its current stream, without allocation unless x has strides.
/// Accumulates sums as reduce.hpp does. Different run-time extents throw shape_error.
template <tensor_like Y, tensor_like X> void column_sum_into(Y&& y, const X& x, detail::operand_element_t<Y> beta = 0) {
  using value = detail::operand_element_t<X>;
  using result = detail::operand_element_t<Y>;
  static_assert(detail::on_one_device<Y, X>,
                "devplace: a reduction's result and operand live on different places; move one with to<on<...>>(x).");
  static_assert(detail::writable<Y>, "devplace: the elements of a reduction's result are const.");
  static_assert(std::is_same_v<result, detail::sum_result_t<value>> ||
                    (half_precision_element<value> && std::is_same_v<result, float>),
                "devplace: a reduction's result has the wrong element type: sums have the operand's type, float for "
                "16-bit types, and int64 for integers.");
  static_assert(detail::operand_extents_t<Y>::rank == 1 && detail::operand_extents_t<X>::rank == 2,
                "devplace: column_sum_into: the result must have rank 1 and the operand rank 2.");
  static_assert(
      detail::compatible<detail::operand_extents_t<Y>, detail::extents_without_t<detail::operand_extents_t<X>, 0>>,
      "devplace: column_sum_into: the result must have one element for each column.");
  const auto to = detail::as_view(y);
  const auto from = detail::as_any_view(x);
  detail::require_one_device("column_sum", to, from);
  if (to.extent(0) != from.extent(1))
    throw shape_error({"column_sum: the result has ", to.extent(0), " elements and the operand ", from.extent(1),
                       " columns; they must agree."});
  detail::reduce_axes<false>(from, {true, false}, detail::sum_reducer<value, result>{detail::raw_data(to), beta});
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
