// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/detail/logarithm.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/ulps.hpp"

using devplace::detail::fast_log;
using devplace::test::larger;
using devplace::test::ulps;
using devplace::test::wider;

TEMPLATE_TEST_CASE("fast_log is within 1 ulp over the whole range, subnormal numbers included", "[ops]", float,
                   double) {
  using limits = std::numeric_limits<TestType>;
  double worst = 0;
  const auto check = [&worst](TestType x) { worst = larger(worst, ulps(fast_log(x), std::log(wider<TestType>{x}))); };
  for (int i = 1; i <= 100000; ++i) {
    check(static_cast<TestType>(2e-5 * i));
    check(1 + static_cast<TestType>(i - 50000) * limits::epsilon());
    check(static_cast<TestType>(i) * limits::denorm_min());
    check(std::ldexp(TestType(1) + static_cast<TestType>(i % 1999) / 1999,
                     i % (limits::max_exponent - limits::min_exponent) + limits::min_exponent));
  }
  check(limits::max());
  CHECK(worst <= 1);
}

TEMPLATE_TEST_CASE("fast_log's special values", "[ops]", float, double) {
  using limits = std::numeric_limits<TestType>;
  CHECK(fast_log(TestType{1}) == 0);
  CHECK_FALSE(std::signbit(fast_log(TestType{1})));
  CHECK(fast_log(TestType{0}) == -limits::infinity());
  CHECK(fast_log(-TestType{0}) == -limits::infinity());
  CHECK(fast_log(limits::infinity()) == limits::infinity());
  for (const TestType x : {TestType{-1}, -limits::denorm_min(), limits::lowest(), -limits::infinity(),
                           limits::quiet_NaN(), -limits::quiet_NaN()})
    CHECK(std::isnan(fast_log(x)));
}

TEMPLATE_TEST_CASE("log_of_one_plus is within 3 ulp", "[ops]", float, double) {
  using devplace::detail::log_of_one_plus;
  double worst = 0;
  for (int i = 0; i <= 100000; ++i) {
    const TestType u = static_cast<TestType>(i) / 100000;
    worst = larger(worst, ulps(log_of_one_plus(u), std::log1p(wider<TestType>{u})));
  }
  CHECK(worst <= 3);
}
