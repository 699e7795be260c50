// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/detail/exponential.hpp>

#include "support/catch.hpp"
#include "support/ulps.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/bf16.hpp>

using devplace::test::larger;
using devplace::test::ulps;
using devplace::test::wider;

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

TEMPLATE_TEST_CASE("the quotient for exp(x - rest) is within 3 ulp, subnormal results included", "[ops]", float,
                   double) {
  using quotient = devplace::detail::exponential_quotient<TestType>;
  const double low = std::is_same_v<TestType, float> ? -103.9 : -745.1;
  double worst = 0;
  for (int i = 0; i <= 400000; ++i) {
    const auto x = static_cast<TestType>(low - (low - 64) * i / 400000);
    const TestType rest = static_cast<TestType>(i % 17 - 8) / 64;
    const quotient e(x), less(x, rest);
    worst = larger(worst, ulps(e.numerator() / e.denominator, std::exp(wider<TestType>{x})));
    worst =
        larger(worst, ulps(less.numerator() / less.denominator, std::exp(wider<TestType>{x} - wider<TestType>{rest})));
  }
  CHECK(worst <= 3);
  const quotient least(devplace::detail::least_exponent<TestType>), one(-TestType{0});
  CHECK(least.numerator() / least.denominator == 0);
  CHECK(one.numerator() == one.denominator);
  CHECK(std::isnan(quotient(std::numeric_limits<TestType>::quiet_NaN()).numerator()));
}

TEMPLATE_TEST_CASE("fast_exp_below_64 is bitwise equal to fast_exp", "[ops]", float, double) {
  using devplace::detail::fast_exp, devplace::detail::fast_exp_below_64, devplace::detail::least_exponent;
  const TestType least = least_exponent<TestType> - TestType{0.5};
  bool same = true;
  for (int i = 0; i <= 500000; ++i) {
    const TestType x = least + (64 - least) * static_cast<TestType>(i) / 500000;
    same = same && fast_exp_below_64(x) == fast_exp(x);
  }
  for (int i = -2000; i <= 1000; ++i) {  // midpoints between powers of two, and their neighbours
    const auto x = static_cast<TestType>(i * 0.034657359027997265);
    for (const TestType near : {std::nextafter(x, least), x, std::nextafter(x, TestType{64})})
      same = same && fast_exp_below_64(near) == fast_exp(near);
  }
  CHECK(same);
  CHECK(fast_exp_below_64(least) == 0);
  CHECK(fast_exp_below_64(least_exponent<TestType>) == 0);
  CHECK(fast_exp_below_64(-TestType{0}) == 1);
  CHECK(std::isnan(fast_exp_below_64(std::numeric_limits<TestType>::quiet_NaN())));
  CHECK(std::isnan(fast_exp_below_64(-std::numeric_limits<TestType>::quiet_NaN())));
}

TEMPLATE_TEST_CASE("exponentials of a block have the bits of fast_exp, for every number of elements", "[ops]", float,
                   double) {
  using namespace devplace::detail;
  constexpr TestType limit = exponential_constants<TestType>::limit;
  for (std::size_t count = 1; count <= exponential_block<TestType>::most; ++count) {
    exponential_block<TestType> any, below_64;
    TestType expected[exponential_block<TestType>::most];
    for (std::size_t i = 0; i != count; ++i) {
      const TestType x = limit * std::sin(static_cast<TestType>(i * i + count));
      any.numbers[i] = i % 7 == 5 ? limit : i % 11 == 5 ? -limit : x;
      below_64.numbers[i] = any.numbers[i] < 64 ? any.numbers[i] : TestType{64};
      expected[i] = fast_exp(any.numbers[i]);
    }
    any.template take_exponentials<exponent_parts<TestType>>(count);
    bool same = std::memcmp(any.numbers, expected, count * sizeof(TestType)) == 0;
    below_64.template take_exponentials<raised_exponent<TestType>>(count);
    for (std::size_t i = 0; i != count; ++i)
      same = same && (expected[i] > std::exp(TestType{64}) || below_64.numbers[i] == expected[i]);
    if (!same) FAIL("with " << count << " elements");
  }
}

TEST_CASE("exp of tensors has the bits of fast_exp, for NaN and infinity, too", "[ops]") {
  namespace dp = devplace;
  using dp::bf16;
  constexpr dp::extents<65536> all_bf16;
  dp::tensor<bf16, dp::extents<65536>, dp::cpu> x(all_bf16);
  for (std::size_t i = 0; i != x.size(); ++i) x.data()[i] = bf16::from_bits(static_cast<std::uint16_t>(i));
  const dp::tensor y = dp::exp(x);
  const dp::tensor<float, dp::extents<65536>, dp::cpu> wide = dp::exp(dp::cast<float>(x));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i != x.size(); ++i) {
    const float expected = dp::detail::fast_exp(static_cast<float>(x.data()[i]));
    if (std::isnan(expected))
      wrong += !std::isnan(wide.data()[i]) || !std::isnan(static_cast<float>(y.data()[i]));
    else
      wrong += wide.data()[i] != expected || y.data()[i].bits() != bf16(expected).bits();
  }
  CHECK(wrong == 0);
  const dp::tensor rest = dp::exp(dp::cast<float>(x.slice(1, 301)));  // no multiple of a block or a vector
  CHECK(std::memcmp(rest.data(), wide.data() + 1, 300 * sizeof(float)) == 0);
}

TEMPLATE_TEST_CASE("fast_expm1 is within 3 ulp over the whole range, subnormal numbers included", "[ops]", float,
                   double) {
  using devplace::detail::fast_expm1;
  const double high = std::is_same_v<TestType, float> ? 88.7 : 709.7;
  double worst = 0;
  const auto check = [&worst](TestType x) {
    worst = larger(worst, ulps(fast_expm1(x), std::expm1(wider<TestType>{x})));
  };
  for (int i = 1; i <= 100000; ++i) {
    check(static_cast<TestType>(high * i / 100000));
    check(static_cast<TestType>(-50.0 * i / 100000));
    check(static_cast<TestType>(2e-5 * (i - 50000)));
    check(std::ldexp(TestType(1) + static_cast<TestType>(i) / 200000,
                     -(i % -(std::numeric_limits<TestType>::min_exponent - 30))));
  }
  CHECK(worst <= 3);
}

TEMPLATE_TEST_CASE("fast_expm1's special values", "[ops]", float, double) {
  using devplace::detail::fast_expm1;
  using limits = std::numeric_limits<TestType>;
  CHECK(fast_expm1(TestType{0}) == 0);
  CHECK_FALSE(std::signbit(fast_expm1(TestType{0})));
  CHECK(std::signbit(fast_expm1(-TestType{0})));
  CHECK(fast_expm1(-limits::infinity()) == -1);
  CHECK(fast_expm1(limits::lowest()) == -1);
  CHECK(fast_expm1(limits::infinity()) == limits::infinity());
  CHECK(fast_expm1(limits::max()) == limits::infinity());
  CHECK(std::isnan(fast_expm1(limits::quiet_NaN())));
  CHECK(fast_expm1(-limits::denorm_min()) == -limits::denorm_min());
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
