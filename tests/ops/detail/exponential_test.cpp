// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/detail/exponential.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <limits>

namespace {

// Error in units of the last place of the result's format.
double ulps(float value, float x) {
  const double exact = std::exp(static_cast<double>(x));
  return std::fabs(static_cast<double>(value) - exact) / std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
}
double ulps(double value, double x) {
  const long double exact = std::exp(static_cast<long double>(x));
  return static_cast<double>(std::fabs(static_cast<long double>(value) - exact) /
                             std::ldexp(1.0L, std::max(std::ilogb(exact), -1022) - 52));
}

}  // namespace

TEMPLATE_TEST_CASE("fast_exp is within 2 ulp over the whole range, subnormal results included", "[ops]", float,
                   double) {
  using devplace::detail::fast_exp;
  const double low = std::is_same_v<TestType, float> ? -103.9 : -745.1;
  const double high = std::is_same_v<TestType, float> ? 88.7 : 709.7;
  double worst = 0;
  for (int i = 0; i <= 400000; ++i) {
    const auto x = static_cast<TestType>(low + (high - low) * i / 400000);
    worst = std::max(worst, ulps(fast_exp(x), x));
  }
  for (int i = 0; i <= 100000; ++i) {
    const auto x = static_cast<TestType>(-1 + 2e-5 * i);
    worst = std::max(worst, ulps(fast_exp(x), x));
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
