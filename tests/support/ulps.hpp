// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace devplace::test {

/// Returns the error in units of the last place of the result's format; `exact` is the result with more digits.
inline double ulps(float value, double exact) {
  return std::fabs(static_cast<double>(value) - exact) / std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
}
inline double ulps(double value, long double exact) {
  return static_cast<double>(std::fabs(static_cast<long double>(value) - exact) /
                             std::ldexp(1.0L, std::max(std::ilogb(exact), -1022) - 52));
}

/// Returns the larger error; NaN if one is NaN.
inline double larger(double a, double b) { return b <= a ? a : std::isnan(a) ? a : b; }

template <class T> using wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

}  // namespace devplace::test
