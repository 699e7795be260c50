// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled with -ffast-math, which lets the compiler reorder sums and assume that there are no NaN.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/math.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/ops/statistics.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/clip_norm.hpp>
#include <devplace/optim/option_range.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/tensor/print.hpp>

#include "support/catch.hpp"

namespace {

namespace dp = devplace;
using on_cpu = dp::on<dp::cpu>;
constexpr std::size_t rows = 5, classes = 37;

/// Logits from -40 to 40, with an offset per row that must not cost accuracy.
template <class T> auto logits() {
  dp::tensor<T, dp::extents<rows, classes>, on_cpu> x(dp::extents<rows, classes>{});
  for (std::size_t i = 0; i != x.size(); ++i)
    x.data()[i] =
        static_cast<T>(static_cast<double>(i * 7919 % 641) / 8 - 40 + 4096.0 * static_cast<double>(i / classes));
  return x;
}

/// The logarithm of a row's softmax, by definition.
template <class X> std::vector<long double> log_softmax_of(const X& x, std::size_t row) {
  long double max = x(row, 0), sum = 0;
  for (std::size_t c = 1; c != classes; ++c) max = std::fmax(max, static_cast<long double>(x(row, c)));
  std::vector<long double> result(classes);
  for (std::size_t c = 0; c != classes; ++c) sum += std::exp(result[c] = x(row, c) - max);
  for (long double& value : result) value -= std::log(sum);
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("logsumexp and variance have full accuracy under -ffast-math", "[fast_math]", float, double) {
  constexpr long double epsilon = std::numeric_limits<TestType>::epsilon();
  auto x = logits<TestType>();
  const auto sums = dp::logsumexp(x, dp::axis<1>{});
  const auto variances = dp::variance<0>(x, dp::axis<1>{});
  for (std::size_t row = 0; row != rows; ++row) {
    const long double expected = static_cast<long double>(x(row, 0)) - log_softmax_of(x, row)[0];
    CHECK(std::fabs(static_cast<long double>(sums(row)) - expected) <= 2 * epsilon * std::fabs(expected));
    long double mean = 0, variance = 0;
    for (std::size_t c = 0; c != classes; ++c) mean += static_cast<long double>(x(row, c)) / classes;
    for (std::size_t c = 0; c != classes; ++c) {
      const long double deviation = static_cast<long double>(x(row, c)) - mean;
      variance += deviation * deviation / classes;
    }
    CHECK(std::fabs(static_cast<long double>(variances(row)) - variance) <= 4 * epsilon * variance);
  }
  for (std::size_t c = 0; c != classes; ++c) x(0, c) = -std::numeric_limits<TestType>::infinity();
  CHECK(dp::logsumexp(x, dp::axis<1>{})(0) == -std::numeric_limits<TestType>::infinity());
}

TEMPLATE_TEST_CASE("softmax, log_softmax and cross_entropy have full accuracy under -ffast-math", "[fast_math]", float,
                   double) {
  constexpr long double epsilon = std::numeric_limits<TestType>::epsilon();
  const auto x = logits<TestType>();
  const auto y = dp::softmax(x), log_y = dp::log_softmax(x);
  dp::tensor<std::int64_t, dp::extents<rows>, on_cpu> labels{3, 36, 0, 20, 11};
  long double loss = 0;
  for (std::size_t r = 0; r != rows; ++r) {
    const std::vector<long double> expected = log_softmax_of(x, r);
    loss -= expected[static_cast<std::size_t>(labels(r))];
    long double worst = 0, worst_log = 0;
    for (std::size_t c = 0; c != classes; ++c) {
      worst = std::fmax(worst, std::fabs(y(r, c) / std::exp(expected[c]) - 1));
      worst_log = std::fmax(worst_log, std::fabs(log_y(r, c) - expected[c]));
    }
    CHECK(worst < 4 * epsilon);
    CHECK(worst_log < 64 * epsilon);
  }
  CHECK(std::fabs(dp::cross_entropy(x, labels, {}, dp::reduction::sum)() / loss - 1) < 4 * epsilon);
}

TEMPLATE_TEST_CASE("exp, tanh, sigmoid and log are accurate under -ffast-math", "[fast_math]", float, double) {
  constexpr std::size_t count = 1001;
  dp::tensor<TestType, dp::extents<count>, on_cpu> x(dp::extents<count>{});
  for (std::size_t i = 0; i != count; ++i) x.data()[i] = static_cast<TestType>((static_cast<double>(i) - 500) / 24);
  x.data()[0] = TestType(1e-9), x.data()[1] = TestType(-1e-5);
  const dp::tensor e = exp(x), t = tanh(x), s = sigmoid(x);
  using bits = std::conditional_t<sizeof(TestType) == 4, std::uint32_t, std::uint64_t>;
  const bits exponent = sizeof(TestType) == 4 ? bits{0x7f800000u} : static_cast<bits>(0x7ff0000000000000u);
  long double worst = 0;
  for (std::size_t i = 0; i != count; ++i) {
    for (const TestType value : {e(i), t(i), s(i)})  // under these flags no comparison finds a NaN
      CHECK((std::bit_cast<bits>(value) & exponent) != exponent);
    const long double at = x(i);
    worst = std::fmax(worst, std::fabs(e(i) / std::exp(at) - 1));
    if (at != 0) worst = std::fmax(worst, std::fabs(t(i) / std::tanh(at) - 1));
    worst = std::fmax(worst, std::fabs(s(i) * (1 + std::exp(-at)) - 1));
  }
  CHECK(worst < 3 * std::numeric_limits<TestType>::epsilon());
  const dp::tensor log_of_e = log(e);
  worst = 0;
  for (std::size_t i = 0; i != count; ++i) {
    const long double exact = std::log(static_cast<long double>(e(i)));
    if (exact != 0) worst = std::fmax(worst, std::fabs(log_of_e(i) / exact - 1));
  }
  CHECK(worst < 3 * std::numeric_limits<TestType>::epsilon());
  const dp::tensor<TestType, dp::extents<2>, on_cpu> far{-80, 80};
  const dp::tensor steep = tanh(far), flat = sigmoid(far);
  CHECK(steep(0) == -1);
  CHECK(steep(1) == 1);
  CHECK(flat(0) < TestType(1e-30));
  CHECK(flat(1) == 1);
}

TEMPLATE_TEST_CASE("isnan, isinf and isfinite find NaN and infinities under -ffast-math", "[fast_math]", float,
                   double) {
  constexpr std::size_t count = 41;  // a tile of the loop and a rest
  constexpr TestType infinite = std::numeric_limits<TestType>::infinity();
  dp::tensor<TestType, dp::extents<count>, on_cpu> x(dp::extents<count>{});
  for (std::size_t i = 0; i != count; ++i)
    x.data()[i] = i % 4 == 0   ? std::numeric_limits<TestType>::quiet_NaN()
                  : i % 4 == 1 ? infinite
                  : i % 4 == 2 ? -infinite
                               : std::numeric_limits<TestType>::max();
  const dp::tensor nan = isnan(x), unlimited = isinf(x), finite = isfinite(x), none = logical_not(finite);
  for (std::size_t i = 0; i != count; ++i) {
    CHECK(nan(i) == (i % 4 == 0));
    CHECK(unlimited(i) == (i % 4 == 1 || i % 4 == 2));
    CHECK(finite(i) == (i % 4 == 3));
    CHECK(none(i) == (i % 4 != 3));
  }
}

TEMPLATE_TEST_CASE("trigonometry and remainders are accurate under -ffast-math", "[fast_math]", float, double) {
  constexpr std::size_t count = 1001;
  dp::tensor<TestType, dp::extents<count>, on_cpu> x(dp::extents<count>{});
  for (std::size_t i = 0; i != count; ++i) x.data()[i] = static_cast<TestType>(i * i) / 64 - 500;
  const dp::tensor s = sin(x), c = cosh(x / 1000), l = log1p(abs(x)), whole = round(x), rest = remainder(x, -3);
  long double worst = 0;
  for (std::size_t i = 0; i != count; ++i) {
    const long double at = x(i);
    worst = std::fmax(worst, std::fabs(s(i) - std::sin(at)));
    worst = std::fmax(worst, std::fabs(c(i) / std::cosh(static_cast<long double>(x(i) / 1000)) - 1));
    if (at != 0) worst = std::fmax(worst, std::fabs(l(i) / std::log1p(std::fabs(at)) - 1));
    CHECK(whole(i) == std::nearbyint(at));
    CHECK(rest(i) == -(-at - 3 * std::floor(-at / 3)));
  }
  CHECK(worst < 4 * std::numeric_limits<TestType>::epsilon());
}

TEST_CASE("NaN hyperparameters and options are rejected under -ffast-math", "[fast_math]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS((dp::optim::validate(dp::optim::adam{.learning_rate = nan})), dp::argument_error);
  CHECK_THROWS_AS((dp::optim::validate(dp::optim::adam{.beta1 = nan})), dp::argument_error);
  CHECK_THROWS_AS((dp::optim::validate(dp::optim::sgd{.learning_rate = infinite})), dp::argument_error);
  CHECK_THROWS_AS((dp::optim::validate(dp::optim::sgd{.weight_decay = -1})), dp::argument_error);
  CHECK_THROWS_AS(dp::optim::validate(dp::optim::clip_norm{nan}), dp::argument_error);
  dp::optim::validate(dp::optim::adam{});

  const auto x = logits<float>();
  const dp::tensor<std::int64_t, dp::extents<rows>, on_cpu> labels{0, 1, 2, 3, 4};
  CHECK_THROWS_AS(dp::cross_entropy(x, labels, {.label_smoothing = static_cast<float>(nan)}), dp::argument_error);
  dp::tensor<float, dp::extents<4>, on_cpu> to{0, 0, 0, 0};
  CHECK_THROWS_AS(dp::uniform_into(to, dp::seed{1}, 0, static_cast<float>(nan), 1.0F), dp::argument_error);
  CHECK_THROWS_AS(dp::normal_into(to, dp::seed{1}, 0, 0.0F, static_cast<float>(infinite)), dp::argument_error);
  CHECK_THROWS_AS(dp::dropout_into(to, to, nan, dp::dropout_key{}), dp::argument_error);
}

TEST_CASE("NaN (without sign) and infinities are printed under -ffast-math", "[fast_math]") {
  const double limit = std::numeric_limits<double>::infinity();
  const dp::tensor<double, dp::extents<3>, on_cpu> x{std::numeric_limits<double>::quiet_NaN(), limit, -limit};
  std::ostringstream out;
  out << x;
  CHECK(out.str().find("[ nan  inf -inf]") != std::string::npos);
  const volatile double nothing = 0;
  char text[16];
  std::snprintf(text, sizeof text, "%g", dp::runtime::loss_from<double>(nothing, nothing, dp::reduction::mean));
  CHECK(std::string(text) == "nan");
}

TEST_CASE("conversions to bf16 and half keep NaN, infinities, ties and subnormal results with -ffast-math",
          "[fast_math]") {
  const auto of_bits = [](std::uint32_t bits) {
    volatile std::uint32_t hidden = bits;
    return std::bit_cast<float>(hidden);
  };
  CHECK(dp::half(of_bits(0x7fc00000)).bits() == 0x7e00);
  CHECK(dp::half(of_bits(0xff800001)).bits() == 0xfe00);
  CHECK(dp::half(of_bits(0xff800000)).bits() == 0xfc00);
  CHECK(dp::half(of_bits(0x47800000)).bits() == 0x7c00);
  CHECK(dp::half(of_bits(0x33800000)).bits() == 1);       // 2^-24
  CHECK(dp::half(of_bits(0x33000001)).bits() == 1);       // above 2^-25
  CHECK(dp::half(of_bits(0x3f801000)).bits() == 0x3c00);  // a tie
  CHECK(dp::bf16(of_bits(0x7f800001)).bits() == 0x7fc0);
  CHECK(dp::bf16(of_bits(0xff800000)).bits() == 0xff80);
  CHECK(dp::bf16(of_bits(0x00018000)).bits() == 2);  // subnormal, a tie
  volatile double tiny = 0x1p-133, above_tie = 1 + 0x1p-8 + 0x1p-40;
  CHECK(dp::bf16(double{tiny}).bits() == 1);
  CHECK(dp::bf16(double{above_tie}).bits() == 0x3f81);
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto h = dp::half::from_bits(static_cast<std::uint16_t>(bits));
    const bool nan = (bits & 0x7fff) > 0x7c00;
    if (dp::half(static_cast<float>(h)).bits() != (nan ? bits | 0x200 : bits)) CHECK(bits == 0x10000);
  }
}
