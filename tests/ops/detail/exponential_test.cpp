// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/detail/exponential.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace {

// Error in units of the last place of the result's format; `exact` is the result in more digits.
double ulps(float value, double exact) {
  return std::fabs(static_cast<double>(value) - exact) / std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
}
double ulps(double value, long double exact) {
  return static_cast<double>(std::fabs(static_cast<long double>(value) - exact) /
                             std::ldexp(1.0L, std::max(std::ilogb(exact), -1022) - 52));
}

// The larger error; NaN if one is.
double larger(double a, double b) {
  return b <= a ? a : std::isnan(a) ? a : b;
}

template <class T>
using wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

}  // namespace

TEMPLATE_TEST_CASE("fast_exp is within 2 ulp over the whole range, subnormal results included", "[ops]", float,
                   double) {
  using devplace::detail::fast_exp;
  const double low = std::is_same_v<TestType, float> ? -103.9 : -745.1;
  const double high = std::is_same_v<TestType, float> ? 88.7 : 709.7;
  double worst = 0;
  for (int i = 0; i <= 400000; ++i) {
    const auto x = static_cast<TestType>(low + (high - low) * i / 400000);
    worst = larger(worst, ulps(fast_exp(x), std::exp(wider<TestType>{x})));
  }
  for (int i = 0; i <= 100000; ++i) {
    const auto x = static_cast<TestType>(-1 + 2e-5 * i);
    worst = larger(worst, ulps(fast_exp(x), std::exp(wider<TestType>{x})));
  }
  CHECK(worst <= 2);
}

TEMPLATE_TEST_CASE("fast_exp's special values", "[ops]", float, double) {
  using devplace::detail::fast_exp;
  using limits = std::numeric_limits<TestType>;
  CHECK(fast_exp(TestType{0}) == 1);
  CHECK(fast_exp(-TestType{0}) == 1);
  CHECK(fast_exp(-limits::infinity()) == 0);
  CHECK(fast_exp(limits::lowest()) == 0);
  CHECK(fast_exp(limits::infinity()) == limits::infinity());
  CHECK(fast_exp(limits::max()) == limits::infinity());
  CHECK(std::isnan(fast_exp(limits::quiet_NaN())));
  CHECK(fast_exp(limits::denorm_min()) == 1);
}

TEMPLATE_TEST_CASE("fast_tanh is within 3 ulp over the whole range, subnormal numbers included", "[ops]", float,
                   double) {
  using devplace::detail::fast_tanh;
  double worst = 0;
  const auto check = [&worst](TestType x) {
    worst = larger(worst, ulps(fast_tanh(x), std::tanh(wider<TestType>{x})));
    CHECK(fast_tanh(-x) == -fast_tanh(x));
  };
  for (int i = 1; i <= 100000; ++i) {
    check(static_cast<TestType>(2.5e-4 * i));
    check(static_cast<TestType>(5e-6 * i));
    check(std::ldexp(TestType(1) + static_cast<TestType>(i) / 200000,
                     -(i % -(std::numeric_limits<TestType>::min_exponent - 30))));
  }
  CHECK(worst <= 3);
}

TEMPLATE_TEST_CASE("fast_tanh's special values", "[ops]", float, double) {
  using devplace::detail::fast_tanh;
  using limits = std::numeric_limits<TestType>;
  CHECK(fast_tanh(limits::infinity()) == 1);
  CHECK(fast_tanh(-limits::infinity()) == -1);
  CHECK(fast_tanh(limits::max()) == 1);
  CHECK(fast_tanh(limits::lowest()) == -1);
  CHECK(std::isnan(fast_tanh(limits::quiet_NaN())));
  CHECK(fast_tanh(TestType{0}) == 0);
  CHECK_FALSE(std::signbit(fast_tanh(TestType{0})));
  CHECK(fast_tanh(-TestType{0}) == 0);
  CHECK(std::signbit(fast_tanh(-TestType{0})));
  CHECK(fast_tanh(limits::denorm_min()) == limits::denorm_min());
  CHECK(fast_tanh(-limits::min()) == -limits::min());
}
