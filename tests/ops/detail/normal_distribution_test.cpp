// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/detail/normal_distribution.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/ulps.hpp"

using devplace::detail::fast_erf;
using devplace::test::larger;
using devplace::test::ulps;
using devplace::test::wider;

TEMPLATE_TEST_CASE("the normal distribution's density and tail are accurate until they are 0", "[ops]", float, double) {
  using devplace::detail::normal_tail;
  constexpr TestType limit = devplace::detail::normal_constants<TestType>::limit;
  double of_density = 0, of_probability = 0;
  for (int i = 0; i <= 200000; ++i) {
    const TestType a = limit * static_cast<TestType>(i) / 200000;
    const long double exact = a;
    const normal_tail<TestType> tail(a);
    of_density = larger(of_density, ulps(tail.density, static_cast<wider<TestType>>(std::exp(-exact * exact / 2))));
    const long double probability = std::erfc(exact * 0.70710678118654752440L) / 2;
    of_probability = larger(of_probability, ulps(tail.probability, static_cast<wider<TestType>>(probability)));
  }
  CHECK(of_density <= 3);
  CHECK(of_probability <= 9);
  CHECK(normal_tail<TestType>(limit).density == 0);
  CHECK(normal_tail<TestType>(limit).probability == 0);
}

TEMPLATE_TEST_CASE("fast_erf is within 4 ulp over the whole range, subnormal numbers included", "[ops]", float,
                   double) {
  double worst = 0;
  const auto check = [&worst](TestType x) {
    worst = larger(worst, ulps(fast_erf(x), std::erf(wider<TestType>{x})));
    CHECK(fast_erf(-x) == -fast_erf(x));
  };
  for (int i = 1; i <= 50000; ++i) {
    check(static_cast<TestType>(1.4e-4 * i));
    check(static_cast<TestType>(2e-5 * i));
    check(std::ldexp(TestType(1) + static_cast<TestType>(i) / 200000,
                     -(i % -(std::numeric_limits<TestType>::min_exponent - 30))));
  }
  CHECK(worst <= 4);
}

TEMPLATE_TEST_CASE("fast_erf's special values", "[ops]", float, double) {
  using limits = std::numeric_limits<TestType>;
  CHECK(fast_erf(limits::infinity()) == 1);
  CHECK(fast_erf(-limits::infinity()) == -1);
  CHECK(fast_erf(limits::max()) == 1);
  CHECK(fast_erf(limits::lowest()) == -1);
  CHECK(std::isnan(fast_erf(limits::quiet_NaN())));
  CHECK_FALSE(std::signbit(fast_erf(TestType{0})));
  CHECK(fast_erf(-TestType{0}) == 0);
  CHECK(std::signbit(fast_erf(-TestType{0})));
  CHECK(fast_erf(limits::denorm_min()) == limits::denorm_min());
}
