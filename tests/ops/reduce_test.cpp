// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/reduce.hpp>

#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/random_values.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/reduce_into.hpp>

namespace dp = devplace;
using dp::test::random_values;
using on_cpu = dp::on<dp::cpu>;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// One result of a reduction of [outer, count, inner], computed in plain loops.
struct line {
  long double sum = 0;
  double largest = -1e300, smallest = 1e300;
  std::int64_t largest_at = 0, smallest_at = 0;
};
template <class X>
line reduce_line(const X& x, std::size_t outer, std::size_t inner, std::size_t count, std::size_t stride) {
  line result;
  for (std::size_t k = 0; k < count; ++k) {
    const auto value = static_cast<double>(x.data()[(outer * count + k) * stride + inner]);
    result.sum += static_cast<long double>(value);
    if (value > result.largest) result.largest = value, result.largest_at = static_cast<std::int64_t>(k);
    if (value < result.smallest) result.smallest = value, result.smallest_at = static_cast<std::int64_t>(k);
  }
  return result;
}

template <std::size_t Axis, class X> void check_axis(const X& x) {
  using value = typename X::value_type;
  const auto sums = dp::sum(x, dp::axis<Axis>{});
  const auto largest = dp::max(x, dp::axis<Axis>{});
  const auto smallest = dp::min(x, dp::axis<Axis>{});
  const auto largest_at = dp::argmax(x, dp::axis<Axis>{});
  const auto smallest_at = dp::argmin(x, dp::axis<Axis>{});
  const std::size_t count = x.extent(Axis), stride = x.extents().stride(Axis);
  REQUIRE(sums.size() * count == x.size());
  std::size_t position = 0;
  for (std::size_t axis = 0; axis < X::rank; ++axis) {
    if (axis != Axis) CHECK(sums.extent(position++) == x.extent(axis));
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const line expected = reduce_line(x, i / stride, i % stride, count, stride);
    CHECK(static_cast<double>(sums.data()[i]) == Catch::Approx(static_cast<double>(expected.sum)).margin(1e-5));
    CHECK(static_cast<double>(largest.data()[i]) == expected.largest);
    CHECK(static_cast<double>(smallest.data()[i]) == expected.smallest);
    CHECK(largest_at.data()[i] == expected.largest_at);
    CHECK(smallest_at.data()[i] == expected.smallest_at);
    if constexpr (dp::floating_element<value>) {
      const auto means = dp::mean(x, dp::axis<Axis>{});
      CHECK(static_cast<double>(means.data()[i]) ==
            Catch::Approx(static_cast<double>(expected.sum) / static_cast<double>(count)).margin(1e-6));
    }
  }
}

template <class X> void check_all(const X& x) {
  const line expected = reduce_line(x, 0, 0, x.size(), 1);
  CHECK(static_cast<double>(dp::sum(x)()) == Catch::Approx(static_cast<double>(expected.sum)).margin(1e-5));
  CHECK(static_cast<double>(dp::max(x)()) == expected.largest);
  CHECK(static_cast<double>(dp::min(x)()) == expected.smallest);
  CHECK(dp::argmax(x)() == expected.largest_at);
  CHECK(dp::argmin(x)() == expected.smallest_at);
}

}  // namespace

TEMPLATE_TEST_CASE("reductions agree with plain loops along every axis", "[ops]", FLOATING_TYPES, std::int64_t,
                   std::uint8_t) {
  const double low = std::is_same_v<TestType, std::uint8_t> ? 0 : -100;
  const auto x = random_values<TestType>(dp::extents<3, dp::dyn, 7>(5), 1, low, 100);
  check_axis<0>(x);
  check_axis<1>(x);
  check_axis<2>(x);
  check_all(x);
  const auto matrix = [low](std::size_t rows, std::size_t columns, unsigned seed) {
    return random_values<TestType>(dp::dextents<2>(rows, columns), seed, low, 100);
  };
  check_axis<0>(matrix(37, 1, 2));
  check_axis<0>(matrix(300, 150, 3));
  check_axis<1>(matrix(2, 5000, 4));
  check_all(matrix(200001, 1, 6));
  check_axis<0>(matrix(40000, 3, 7));
}

TEST_CASE("reductions agree with plain loops for one element and for arrays of one axis", "[ops]") {
  check_all(random_values<float>(dp::extents<>{}, 5, -100, 100));
  check_axis<0>(random_values<float>(dp::extents<37>{}, 2, -100, 100));
}

TEST_CASE("small sums by hand", "[ops]") {
  const dp::tensor<float, dp::extents<2, 3>, on_cpu> x{{1, 2, 3}, {4, 5, 6}};
  CHECK(dp::sum(x)() == 21);
  CHECK(dp::mean(x)() == 3.5f);
  CHECK(dp::sum(x, dp::axis<0>{})(2) == 9);
  CHECK(dp::sum(x, dp::axis<1>{})(1) == 15);
  CHECK(dp::mean(x, dp::axis<1>{})(0) == 2);
  CHECK(dp::argmax(x)() == 5);
  static_assert(std::is_same_v<decltype(dp::sum(x, dp::axis<1>{})), dp::tensor<float, dp::extents<2>, on_cpu>>);
  static_assert(
      std::is_same_v<decltype(dp::argmax(x, dp::axis<0>{})), dp::tensor<std::int64_t, dp::extents<3>, on_cpu>>);
}

TEST_CASE("sums of integers are int64 and wrap around", "[ops]") {
  dp::tensor<std::uint8_t, dp::extents<1000>, on_cpu> bytes(dp::extents<1000>{});
  for (std::size_t i = 0; i < 1000; ++i) bytes(i) = 255;
  const auto total = dp::sum(bytes);
  static_assert(std::is_same_v<decltype(total)::value_type, std::int64_t>);
  CHECK(total() == 255000);
  const dp::tensor<std::int64_t, dp::extents<2>, on_cpu> large{std::numeric_limits<std::int64_t>::max(),
                                                               std::int64_t{1}};
  CHECK(dp::sum(large)() == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("a long sum keeps the digits that a plain loop loses", "[ops]") {
  const std::size_t n = (std::size_t{1} << 22) + 12345;
  dp::tensor<float, dp::dextents<1>, on_cpu> x(dp::dextents<1>{n});
  long double exact = 0;
  float plain = 0;
  for (std::size_t i = 0; i < n; ++i) {
    x(i) = 0.1f + 1e-3f * static_cast<float>(i % 17);
    exact += static_cast<long double>(x(i));
    plain += x(i);
  }
  const auto expected = static_cast<double>(exact);
  CHECK(std::fabs(static_cast<double>(plain) - expected) > 1e-5 * expected);
  CHECK(std::fabs(static_cast<double>(dp::sum(x)()) - expected) <= 1e-7 * expected);
  const auto columns = x.slice(0, n / 8 * 8).reshape(dp::extents<dp::dyn, 8>(n / 8));
  const auto column_sums = dp::sum(columns, dp::axis<0>{});
  for (std::size_t c = 0; c < 8; ++c) {
    long double column = 0;
    for (std::size_t r = 0; r < n / 8; ++r) column += static_cast<long double>(columns(r, c));
    CHECK(std::fabs(static_cast<double>(column_sums(c)) - static_cast<double>(column)) <=
          1e-7 * static_cast<double>(column));
  }
}

TEST_CASE("a sum of doubles has the error of a pairwise sum", "[ops]") {
  const auto x = random_values<double>(dp::dextents<1>{1000003}, 8, 0, 1);
  long double exact = 0;
  for (std::size_t i = 0; i < x.size(); ++i) exact += static_cast<long double>(x(i));
  const auto expected = static_cast<double>(exact);
  const double epsilon = std::numeric_limits<double>::epsilon();
  CHECK(std::fabs(dp::sum(x)() - expected) <= 4 * epsilon * expected);  // a plain loop: often 100 epsilon, at worst 1e6
  const auto rows = random_values<double>(dp::extents<dp::dyn, 3>(300000), 9, 0, 1);
  const auto sums = dp::sum(rows, dp::axis<0>{});
  for (std::size_t c = 0; c < 3; ++c) {
    long double column = 0;
    for (std::size_t r = 0; r < 300000; ++r) column += static_cast<long double>(rows(r, c));
    CHECK(std::fabs(sums(c) - static_cast<double>(column)) <= 4 * epsilon * static_cast<double>(column));
  }
}

TEST_CASE("the bits of reductions do not depend on the number of threads", "[ops][threads]") {
  const auto run = [](int threads) {
    dp::builtin_thread_team team(threads);
    const dp::thread_team_scope scope(team);
    std::vector<double> results;
    const auto keep = [&results](const auto& x) {
      for (std::size_t i = 0; i < x.size(); ++i) results.push_back(static_cast<double>(x.data()[i]));
    };
    const auto line = random_values<double>(dp::dextents<1>{300001}, 1);
    keep(dp::sum(line));
    keep(dp::argmax(line));
    const auto tall = random_values<double>(dp::dextents<2>{70000, 10}, 2);
    keep(dp::sum(tall, dp::axis<0>{}));
    keep(dp::mean(tall, dp::axis<0>{}));
    keep(dp::sum(tall, dp::axis<1>{}));
    keep(dp::argmax(tall, dp::axis<0>{}));
    const auto wide = random_values<double>(dp::dextents<2>{10, 70000}, 3);
    keep(dp::sum(wide, dp::axis<0>{}));
    keep(dp::sum(wide, dp::axis<1>{}));
    keep(dp::sum(dp::square(wide)));
    return results;
  };
  const std::vector<double> one = run(1);
  for (const int threads : {2, 3}) {
    const std::vector<double> more = run(threads);
    REQUIRE(more.size() == one.size());
    CHECK(std::memcmp(more.data(), one.data(), one.size() * sizeof(double)) == 0);
  }
}

TEST_CASE("NaN and infinities in reductions", "[ops]") {
  const dp::tensor<float, dp::extents<3, 4>, on_cpu> x{
      {1, nan_value, 9, nan_value}, {-infinity, -infinity, -infinity, -infinity}, {infinity, 1, infinity, -infinity}};
  CHECK(std::isnan(dp::max(x, dp::axis<1>{})(0)));
  CHECK(std::isnan(dp::min(x, dp::axis<1>{})(0)));
  CHECK(dp::max(x, dp::axis<1>{})(1) == -infinity);
  CHECK(dp::max(x, dp::axis<1>{})(2) == infinity);
  CHECK(dp::min(x, dp::axis<1>{})(2) == -infinity);
  CHECK(dp::argmax(x, dp::axis<1>{})(0) == 1);  // the first NaN
  CHECK(dp::argmin(x, dp::axis<1>{})(0) == 1);
  CHECK(dp::argmax(x, dp::axis<1>{})(1) == 0);
  CHECK(dp::argmax(x, dp::axis<1>{})(2) == 0);
  CHECK(std::isnan(dp::sum(x, dp::axis<1>{})(0)));
  CHECK(std::isnan(dp::sum(x, dp::axis<1>{})(2)));
  for (const std::size_t at : {std::size_t{0}, std::size_t{77}, std::size_t{99999}, std::size_t{150000}}) {
    auto line = random_values<float>(dp::dextents<1>{150001}, 4);
    line(at) = nan_value;
    CHECK(std::isnan(dp::max(line)()));
    CHECK(dp::argmax(line)() == static_cast<std::int64_t>(at));
    CHECK(dp::argmin(line)() == static_cast<std::int64_t>(at));
  }
}

TEST_CASE("argmax takes the first of equal elements, for any length", "[ops]") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{9}, std::size_t{2000}, std::size_t{200000}}) {
    dp::tensor<std::int32_t, dp::dextents<1>, on_cpu> x(dp::dextents<1>{n});
    for (std::size_t i = 0; i < n; ++i) x(i) = i % 3 == 1 ? 5 : 2;
    CHECK(dp::argmax(x)() == (n > 1 ? 1 : 0));
    CHECK(dp::argmin(x)() == (n > 1 ? 0 : 0));
  }
}

TEST_CASE("reductions along many rows of few elements", "[ops]") {
  constexpr std::size_t rows = 200;
  for (std::size_t n = 1; n <= 17; ++n) {
    dp::tensor<float, dp::dextents<2>, on_cpu> x(dp::dextents<2>{rows, n});
    for (std::size_t i = 0; i < x.size(); ++i)
      x.data()[i] = i % 31 == 7 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i * 37 % 11) - 5;
    const auto sums = dp::sum(x, dp::axis<1>{}), largest = dp::max(x, dp::axis<1>{});
    const auto positions = dp::argmax(x, dp::axis<1>{});
    for (std::size_t row = 0; row < rows; ++row) {
      float sum = 0, best = x(row, 0);
      std::size_t position = 0;
      for (std::size_t k = 0; k < n; ++k) {
        sum += x(row, k);
        if (!std::isnan(best) && !(x(row, k) <= best)) best = x(row, k), position = k;
      }
      CHECK((sums(row) == sum || (std::isnan(sum) && std::isnan(sums(row)))));
      CHECK((largest(row) == best || (std::isnan(best) && std::isnan(largest(row)))));
      CHECK(positions(row) == static_cast<std::int64_t>(position));
    }
  }
}

TEST_CASE("reductions of empty arrays", "[ops]") {
  const dp::tensor<float, dp::dextents<2>, on_cpu> no_rows(dp::dextents<2>(0, 3));
  CHECK(dp::sum(no_rows)() == 0);
  CHECK(std::isnan(dp::mean(no_rows)()));
  CHECK(dp::sum(no_rows, dp::axis<0>{})(2) == 0);
  CHECK(std::isnan(dp::mean(no_rows, dp::axis<0>{})(1)));
  CHECK(dp::sum(no_rows, dp::axis<1>{}).size() == 0);
  CHECK(dp::max(no_rows, dp::axis<1>{}).size() == 0);
  CHECK_THROWS_AS(dp::max(no_rows), dp::argument_error);
  CHECK_THROWS_AS(dp::min(no_rows, dp::axis<0>{}), dp::argument_error);
  CHECK_THROWS_AS(dp::argmax(no_rows), dp::argument_error);
  CHECK_THROWS_AS(dp::argmin(no_rows, dp::axis<0>{}), dp::argument_error);
}

TEST_CASE("an expression is evaluated and reduced", "[ops]") {
  const dp::tensor<float, dp::extents<2, 3>, on_cpu> x{{1, 2, 3}, {4, 5, 6}};
  CHECK(dp::sum(x * x)() == 91);
  CHECK(dp::mean(2.0f * x, dp::axis<1>{})(1) == 10);
}
