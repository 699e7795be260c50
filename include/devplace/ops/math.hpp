// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/ops/detail/math.hpp>
#include <devplace/ops/elementwise.hpp>

// Further elementwise functions: expressions like those of ops/elementwise.hpp, with the same rules for operands,
// placements and 16-bit elements. Names and special values are NumPy's.
namespace devplace {

/// Sine, cosine and tangent of an angle in radians, also of huge ones; NaN for infinities. These functions and those
/// down to hypot take floating-point elements. docs/operations.md has their accuracy.
///@{
DEVPLACE_DETAIL_UNARY(sin, detail::unary<detail::elementary::sin>);
DEVPLACE_DETAIL_UNARY(cos, detail::unary<detail::elementary::cos>);
DEVPLACE_DETAIL_UNARY(tan, detail::unary<detail::elementary::tan>);
///@}
/// Angles from -pi/2 to pi/2, from 0 to pi, and from -pi/2 to pi/2; asin and acos are NaN outside of -1 to 1.
///@{
DEVPLACE_DETAIL_UNARY(asin, detail::unary<detail::elementary::asin>);
DEVPLACE_DETAIL_UNARY(acos, detail::unary<detail::elementary::acos>);
DEVPLACE_DETAIL_UNARY(atan, detail::unary<detail::elementary::atan>);
///@}
/// The angle of the point (x, y), from -pi to pi: `atan2(y, x)`.
DEVPLACE_DETAIL_BINARY(atan2, detail::binary<detail::elementary::atan2>);
/// Hyperbolic sine and cosine.
///@{
DEVPLACE_DETAIL_UNARY(sinh, detail::unary<detail::elementary::sinh>);
DEVPLACE_DETAIL_UNARY(cosh, detail::unary<detail::elementary::cosh>);
///@}
/// 2 to the power x.
DEVPLACE_DETAIL_UNARY(exp2, detail::unary<detail::elementary::exp2>);
/// Logarithms to the bases 2 and 10; -infinity for 0, NaN for negative numbers.
///@{
DEVPLACE_DETAIL_UNARY(log2, detail::unary<detail::elementary::log2>);
DEVPLACE_DETAIL_UNARY(log10, detail::unary<detail::elementary::log10>);
///@}
/// log(1 + x), also for small x; -infinity for -1, NaN below.
DEVPLACE_DETAIL_UNARY(log1p, detail::unary<detail::elementary::log1p>);
/// sqrt(a * a + b * b) without overflow; infinity if either is infinite.
DEVPLACE_DETAIL_BINARY(hypot, detail::binary<detail::elementary::hypot>);

/// The largest whole number <= x, the smallest >= x, the nearest (the even one of two) and the next towards 0. These
/// functions and those down to remainder take all elements and are exact; integers stay as they are.
///@{
DEVPLACE_DETAIL_UNARY(floor, detail::unary<detail::elementary::floor>);
DEVPLACE_DETAIL_UNARY(ceil, detail::unary<detail::elementary::ceil>);
DEVPLACE_DETAIL_UNARY(round, detail::unary<detail::elementary::round>);
DEVPLACE_DETAIL_UNARY(trunc, detail::unary<detail::elementary::trunc>);
///@}
/// -1, 0 or 1; NaN for NaN.
DEVPLACE_DETAIL_UNARY(sign, detail::unary<detail::elementary::sign>);
/// The remainder a - n b with n = a / b towards 0, so with the sign of a, as in C. For b = 0, NaN or the integer 0.
DEVPLACE_DETAIL_BINARY(fmod, detail::binary<detail::elementary::fmod>);
/// The remainder a - n b with n = floor(a / b), so with the sign of b, as in Python. For b = 0, NaN or the integer 0.
DEVPLACE_DETAIL_BINARY(remainder, detail::binary<detail::elementary::remainder>);

/// Whether a floating-point element is NaN, infinite, or neither: 1 or 0, as uint8. Also with -ffast-math.
///@{
DEVPLACE_DETAIL_UNARY(isnan, detail::unary<detail::elementary::isnan>);
DEVPLACE_DETAIL_UNARY(isinf, detail::unary<detail::elementary::isinf>);
DEVPLACE_DETAIL_UNARY(isfinite, detail::unary<detail::elementary::isfinite>);
///@}

/// Logic of elements of any type, such as comparisons: 1 or 0, as uint8. All elements but 0 are true, NaN too.
///@{
DEVPLACE_DETAIL_BINARY(logical_and, detail::binary<detail::elementary::logical_and>);
DEVPLACE_DETAIL_BINARY(logical_or, detail::binary<detail::elementary::logical_or>);
DEVPLACE_DETAIL_BINARY(logical_xor, detail::binary<detail::elementary::logical_xor>);
DEVPLACE_DETAIL_UNARY(logical_not, detail::unary<detail::elementary::logical_not>);
///@}

/// minimum(maximum(x, low), high): NaN stays NaN, and if low > high the result is high. The bounds are numbers or
/// operands.
template <detail::operand_type X, detail::accepted_argument Low, detail::accepted_argument High>
constexpr auto clamp(X&& x, Low&& low, High&& high) {
  auto raised = detail::binary<detail::elementary::maximum>(std::forward<X>(x), std::forward<Low>(low));
  if constexpr (std::is_same_v<decltype(raised), detail::refusal>)
    return raised;
  else
    return detail::binary<detail::elementary::minimum>(std::move(raised), std::forward<High>(high));
}

}  // namespace devplace
