// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace devplace::test {

/// Returns the error in units of the last place of the result's format; `exact` is the result with more digits.
/// Infinity counts as the number after the largest one.
inline double ulps(float value, double exact) {
  const double result = std::isinf(value) ? std::copysign(0x1p128, value) : static_cast<double>(value);
  return std::fabs(result - exact) / std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
}
inline double ulps(double value, long double exact) {
  const long double result = std::isinf(value) ? std::copysign(0x1p1024L, value) : static_cast<long double>(value);
  return static_cast<double>(std::fabs(result - exact) / std::ldexp(1.0L, std::max(std::ilogb(exact), -1022) - 52));
}

/// Returns the larger error; NaN if one is NaN.
inline double larger(double a, double b) { return b <= a ? a : std::isnan(a) ? a : b; }

template <class T> using wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

}  // namespace devplace::test
