// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/softmax.hpp>

#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/random_values.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <devplace/base/thread_team.hpp>

namespace dp = devplace;
using dp::test::random_values;
using on_cpu = dp::on<dp::cpu>;

namespace {

template <class T> constexpr double tolerance = std::is_same_v<T, float> ? 1e-6 : 1e-14;

template <class X> constexpr double smallest = static_cast<double>(std::numeric_limits<typename X::value_type>::min());

// Row-wise softmax and its logarithm in long double.
struct reference {
  std::vector<long double> softmax, log_softmax;

  template <class X> explicit reference(const X& x) : softmax(x.size()), log_softmax(x.size()) {
    const std::size_t n = x.extent(X::rank - 1);
    for (std::size_t first = 0; first < x.size(); first += n) {
      long double max = static_cast<long double>(x.data()[first]);
      for (std::size_t c = 0; c < n; ++c) max = std::max(max, static_cast<long double>(x.data()[first + c]));
      long double sum = 0;
      for (std::size_t c = 0; c < n; ++c) sum += std::exp(static_cast<long double>(x.data()[first + c]) - max);
      for (std::size_t c = 0; c < n; ++c) {
        const long double shifted = static_cast<long double>(x.data()[first + c]) - max;
        softmax[first + c] = std::exp(shifted) / sum;
        log_softmax[first + c] = shifted - std::log(sum);
      }
    }
  }
};

// Tolerates the rounding of x - max: the relative error of a probability grows with the distance of its logit from the
// largest logit, and a logarithm near 0 is a difference of numbers near 1.
template <class X> void check_softmax(const X& y, const reference& expected, double relative) {
  double worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto exact = static_cast<double>(expected.softmax[i]);
    const double allowed = relative * exact * (1 - 0.1 * static_cast<double>(expected.log_softmax[i]));
    worst = std::max(worst, std::fabs(static_cast<double>(y.data()[i]) - exact) / std::max(allowed, smallest<X>));
  }
  CHECK(worst <= 1);
}
template <class X> void check_log_softmax(const X& y, const reference& expected, double relative) {
  double worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto exact = static_cast<double>(expected.log_softmax[i]);
    worst = std::max(worst, std::fabs(static_cast<double>(y.data()[i]) - exact) / std::max(std::fabs(exact), 1.0));
  }
  CHECK(worst <= relative);
}

}  // namespace

TEMPLATE_TEST_CASE("softmax and log_softmax against long double", "[ops]", FLOATING_TYPES) {
  for (const std::size_t n : {1u, 2u, 3u, 7u, 8u, 9u, 10u, 16u, 100u, 1000u, 20000u}) {
    const auto x = random_values<TestType>(dp::dextents<2>{5, n}, static_cast<unsigned>(n), -10, 10);
    const reference expected(x);
    check_softmax(dp::softmax(x), expected, tolerance<TestType>);
    check_log_softmax(dp::log_softmax(x), expected, tolerance<TestType>);
  }
}

TEMPLATE_TEST_CASE("softmax of logits in the hundreds", "[ops]", FLOATING_TYPES) {
  const auto x = random_values<TestType>(dp::extents<20, 10>{}, 3, -700, 700);
  const reference expected(x);
  check_softmax(dp::softmax(x), expected, tolerance<TestType>);
  check_log_softmax(dp::log_softmax(x), expected, tolerance<TestType>);
}

TEST_CASE("softmax works along the last axis of any rank", "[ops]") {
  const auto x = random_values<double>(dp::extents<3, 4, 5>{}, 4);
  check_softmax(dp::softmax(x), reference(x), 1e-14);
  const auto line = random_values<double>(dp::extents<6>{}, 5);
  check_softmax(dp::softmax(line), reference(line), 1e-14);
}

TEST_CASE("softmax in place, and through views without an ordinal", "[ops]") {
  auto x = random_values<double>(dp::extents<9, 13>{}, 6);
  const reference expected(x);
  auto y = x.clone();
  dp::softmax_into(y.view().erased(), y.view().erased());
  check_softmax(y, expected, 1e-14);
  dp::log_softmax_into(x, x);
  check_log_softmax(x, expected, 1e-14);
}

TEST_CASE("a result of softmax that is a part of the operand is refused", "[ops]") {
  dp::tensor<float, dp::extents<6>, dp::on<dp::cpu>> x{1, 2, 3, 4, 5, 6};
  CHECK_THROWS_AS(dp::softmax_into(x.slice(1, 6), x.slice(0, 5)), dp::argument_error);
  CHECK_THROWS_AS(dp::log_softmax_into(x.slice(0, 5), x.slice(1, 6)), dp::argument_error);
  const auto rows = x.reshape(dp::extents<3, 2>{});
  CHECK_THROWS_AS(dp::softmax_backward_into(rows.slice(0, 2), rows.slice(0, 2), rows.slice(1, 3)), dp::argument_error);
  const auto expected = dp::softmax(x.slice(dp::axis<0>{}, 0, 6, 2));
  dp::softmax_into(x.slice(0, 3), x.slice(dp::axis<0>{}, 0, 6, 2));  // a view with strides is copied
  for (std::size_t i = 0; i < 3; ++i) CHECK(x(i) == expected(i));
}

TEST_CASE("rows with NaN, with infinity, of minus infinity", "[ops]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const dp::tensor<float, dp::extents<5, 3>, on_cpu> x{
      {0, nan, 1}, {0, inf, 1}, {-inf, -inf, -inf}, {0, -inf, 0}, {-inf, 7, -inf}};
  const auto y = dp::softmax(x);
  const auto log_y = dp::log_softmax(x);
  for (std::size_t row = 0; row < 3; ++row) {  // as in PyTorch
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(std::isnan(y(row, c)));
      CHECK(std::isnan(log_y(row, c)));
    }
  }
  CHECK(y(3, 0) == 0.5f);
  CHECK(y(3, 1) == 0);
  CHECK(log_y(3, 1) == -inf);
  CHECK(y(4, 1) == 1);
  CHECK(log_y(4, 1) == 0);
}

TEST_CASE("NaN anywhere in a row of softmax, and numbers far below the largest", "[ops]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  constexpr std::size_t n = 64 + 8 + 3;  // the loops of a row take 64, 8 and one
  for (const std::size_t at : {std::size_t{5}, std::size_t{66}, n - 1}) {
    dp::tensor<float, dp::extents<2, n>, on_cpu> x;
    for (const float of : {nan, -nan, -inf, -1e9F}) {
      x = -100.0F;  // exp is subnormal
      x(0, 0) = x(1, 0) = 0;
      x(0, at) = of;
      const auto y = dp::softmax(x);
      bool as_expected = y(1, 0) == 1 && y(1, at) == std::exp(-100.0F);
      for (std::size_t c = 0; c != n; ++c) {
        const float expected = c == 0 ? 1.0F : c == at ? 0.0F : std::exp(-100.0F);
        as_expected = as_expected && (std::isnan(of) ? std::isnan(y(0, c)) : y(0, c) == expected);
      }
      CHECK(as_expected);
    }
  }
}

TEST_CASE("softmax of no rows and of no columns", "[ops]") {
  CHECK(dp::softmax(dp::tensor<float, dp::dextents<2>, on_cpu>(dp::dextents<2>(0, 3))).size() == 0);
  CHECK(dp::log_softmax(dp::tensor<float, dp::dextents<2>, on_cpu>(dp::dextents<2>(3, 0))).size() == 0);
}

TEST_CASE("backward agrees with finite differences", "[ops]") {
  const auto x = random_values<double>(dp::extents<3, 11>{}, 7, -2, 2);
  const auto dy = random_values<double>(dp::extents<3, 11>{}, 8);
  dp::tensor<double, dp::extents<3, 11>, on_cpu> dx(dp::extents<3, 11>{}), log_dx(dp::extents<3, 11>{});
  dp::softmax_backward_into(dx, dp::softmax(x), dy);
  dp::log_softmax_backward_into(log_dx, dp::log_softmax(x), dy);
  const auto weighted = [&dy](const auto& y) {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y.data()[i] * dy.data()[i];
    return sum;
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double step = 1e-5;
    auto above = x.clone(), below = x.clone();
    above.data()[i] += step;
    below.data()[i] -= step;
    CHECK(dx.data()[i] ==
          Catch::Approx((weighted(dp::softmax(above)) - weighted(dp::softmax(below))) / (2 * step)).margin(1e-9));
    CHECK(
        log_dx.data()[i] ==
        Catch::Approx((weighted(dp::log_softmax(above)) - weighted(dp::log_softmax(below))) / (2 * step)).margin(1e-9));
  }
}

TEST_CASE("backward may write over dy", "[ops]") {
  const auto y = dp::softmax(random_values<float>(dp::extents<4, 10>{}, 9));
  auto dy = random_values<float>(dp::extents<4, 10>{}, 10);
  dp::tensor<float, dp::extents<4, 10>, on_cpu> dx(dp::extents<4, 10>{});
  dp::softmax_backward_into(dx, y, dy);
  dp::softmax_backward_into(dy, y, dy);
  CHECK(std::memcmp(dx.data(), dy.data(), sizeof(float) * dx.size()) == 0);
}

TEST_CASE("the bits of softmax do not depend on the number of threads", "[ops][threads]") {
  const auto x = random_values<float>(dp::dextents<2>{3000, 17}, 11, -5, 5);
  const auto run = [&x](int threads) {
    dp::builtin_thread_team team(threads);
    const dp::thread_team_scope scope(team);
    return dp::log_softmax(x);
  };
  const auto one = run(1), two = run(2), three = run(3);
  CHECK(std::memcmp(one.data(), two.data(), sizeof(float) * x.size()) == 0);
  CHECK(std::memcmp(one.data(), three.data(), sizeof(float) * x.size()) == 0);
}

TEST_CASE("softmax of other extents throws", "[ops]") {
  dp::tensor<float, dp::dextents<2>, on_cpu> y(dp::dextents<2>(2, 3)), x(dp::dextents<2>(3, 2));
  CHECK_THROWS_AS(dp::softmax_into(y, x), dp::shape_error);
}
