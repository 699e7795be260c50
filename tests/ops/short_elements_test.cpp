// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Operations on tensors of bf16 and half: computed in float, with each result rounded once.

#include <devplace/ops/elementwise.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <devplace/ops/creation.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/scan.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/ops/sort.hpp>
#include <devplace/ops/take_rows.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/wrap.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

constexpr std::size_t short_rows = 7, short_columns = 41;

/// Returns numbers of both signs and many magnitudes, an infinity and a NaN.
template <class T> auto short_numbers() {
  dp::tensor<T, dp::extents<short_rows, short_columns>, dp::cpu> x;
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = T(std::ldexp(static_cast<double>(i * 37 % 101) - 50, static_cast<int>(i % 9) - 8));
  x.data()[5] = std::numeric_limits<T>::infinity();
  x.data()[6] = std::numeric_limits<T>::quiet_NaN();
  return x;
}

/// Returns the number of elements that are not `expected(i)`, a double, rounded to T; NaN matches NaN.
template <class T, class X, class Expected> std::size_t not_rounded(const X& x, const Expected& expected) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float want = T(static_cast<float>(expected(i))), got = x.data()[i];
    wrong += !(want == got || (std::isnan(want) && std::isnan(got)));
  }
  return wrong;
}

template <class T> void check_elementwise() {
  const auto x = short_numbers<T>();
  auto y = dp::full<T, dp::cpu>(x.extents(), 0.3f);
  y += dp::abs(x) * 0.5f;
  const auto a = [&](std::size_t i) { return static_cast<float>(x.data()[i]); };
  const auto b = [&](std::size_t i) { return static_cast<float>(y.data()[i]); };
  const dp::tensor sum = x + y;
  const dp::tensor quotient = x / y;
  const dp::tensor negative = -x;
  const dp::tensor size = dp::abs(x);
  const dp::tensor larger = dp::maximum(x, y);
  STATIC_REQUIRE(std::is_same_v<decltype(sum), const dp::tensor<T, dp::extents<short_rows, short_columns>, dp::cpu>>);
  CHECK(not_rounded<T>(sum, [&](std::size_t i) { return a(i) + b(i); }) == 0);
  CHECK(not_rounded<T>(quotient, [&](std::size_t i) { return a(i) / b(i); }) == 0);
  CHECK(not_rounded<T>(negative, [&](std::size_t i) { return -a(i); }) == 0);
  CHECK(not_rounded<T>(size, [&](std::size_t i) { return std::fabs(a(i)); }) == 0);
  CHECK(not_rounded<T>(larger, [&](std::size_t i) { return a(i) > b(i) || std::isnan(a(i)) ? a(i) : b(i); }) == 0);
  // A scalar is not rounded to 16 bits, and each operation rounds its result.
  const dp::tensor scaled = x * 0.999f + 1;
  CHECK(not_rounded<T>(scaled, [&](std::size_t i) { return static_cast<float>(T(a(i) * 0.999f)) + 1; }) == 0);
  if constexpr (std::is_same_v<T, dp::bf16>) {  // half differs in the conversions alone
    const dp::tensor root = dp::sqrt(y);
    const dp::tensor relu = dp::relu(x);
    const dp::tensor square = dp::square(x);
    CHECK(not_rounded<T>(root, [&](std::size_t i) { return std::sqrt(b(i)); }) == 0);
    CHECK(not_rounded<T>(relu, [&](std::size_t i) { return a(i) < 0 ? 0 : a(i); }) == 0);
    CHECK(not_rounded<T>(square, [&](std::size_t i) { return a(i) * a(i); }) == 0);
    // Functions accurate to a few ulp of float, so that hardly any result rounds to another number.
    const dp::tensor exponential = dp::exp(x);
    const dp::tensor sigmoid = dp::sigmoid(x);
    const dp::tensor power = dp::pow(y, 1.5f);
    CHECK(not_rounded<T>(exponential, [&](std::size_t i) { return std::exp(static_cast<double>(a(i))); }) <= 1);
    CHECK(not_rounded<T>(sigmoid, [&](std::size_t i) { return 1 / (1 + std::exp(-static_cast<double>(a(i)))); }) <= 1);
    CHECK(not_rounded<T>(power, [&](std::size_t i) { return std::pow(static_cast<double>(b(i)), 1.5); }) <= 1);
    const dp::tensor below = x < y;
    const dp::tensor chosen = dp::where(below, x, T(2));
    STATIC_REQUIRE(std::is_same_v<typename decltype(below)::value_type, std::uint8_t>);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      wrong += below.data()[i] != (a(i) < b(i)) || !(chosen.data()[i] == (a(i) < b(i) ? a(i) : 2));
    CHECK(wrong == 0);
  }
}

template <class T> void check_conversions() {
  const auto x = short_numbers<T>();
  const dp::tensor wide = dp::cast<float>(x);
  const dp::tensor precise = dp::cast<double>(x);
  const dp::tensor back = dp::cast<T>(wide + 0.0f);
  const dp::tensor whole = dp::cast<std::int32_t>(x * 1000.0f);
  const dp::tensor bytes = dp::cast<std::uint8_t>(x);
  const dp::tensor large = dp::cast<T>(dp::tensor<std::int64_t, dp::extents<2>, dp::cpu>{-3, std::int64_t{1} << 40});
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float value = x.data()[i];
    const bool nan = std::isnan(value);
    wrong += nan ? !std::isnan(wide.data()[i]) : wide.data()[i] != value || precise.data()[i] != double{value};
    wrong += back.data()[i].bits() != x.data()[i].bits();
    const float thousands = static_cast<float>(T(value * 1000));
    const double clamped = nan ? 0 : std::fmin(std::fmax(static_cast<double>(thousands), -2147483648.0), 2147483647.0);
    wrong += whole.data()[i] != static_cast<std::int32_t>(clamped);
    wrong += bytes.data()[i] != static_cast<std::uint8_t>(nan ? 0 : std::fmin(std::fmax(value, 0.0f), 255.0f));
  }
  CHECK(wrong == 0);
  CHECK(large(0) == -3.0f);
  CHECK(large(1) == (std::is_same_v<T, dp::half> ? std::numeric_limits<float>::infinity() : 0x1p40f));
}

template <class T> void check_reductions() {
  auto x = short_numbers<T>();
  x.data()[5] = T(1), x.data()[6] = T(2);
  std::vector<double> sums(short_rows);
  double total = 0, largest = -1e9;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = x.data()[i];
    sums[i / short_columns] += value, total += value, largest = std::fmax(largest, value);
  }
  const dp::tensor rows = dp::sum(x, dp::axis<1>{});
  STATIC_REQUIRE(std::is_same_v<typename decltype(rows)::value_type, T>);
  CHECK(not_rounded<T>(rows, [&](std::size_t i) { return sums[i]; }) == 0);
  CHECK(dp::item(dp::mean(x)) == T(total / static_cast<double>(x.size())));
  CHECK(dp::item(dp::max(x)) == largest);
  CHECK(dp::item(dp::max(-x)) == -dp::item(dp::min(x)));
  CHECK(static_cast<double>(x.data()[dp::item(dp::argmax(x))]) == largest);
  // A running sum of 3000 ones would stop at 256 in bf16 and at 2048 in half.
  CHECK(dp::item(dp::sum(dp::ones<T, dp::cpu>(3000))) == T(3000));
  const dp::tensor running = dp::cumsum(dp::ones<T, dp::cpu>(3000));
  CHECK(running(2999) == T(3000));
  dp::tensor<T, dp::extents<3>, dp::cpu> lowest{-1, -2, -3};
  CHECK(dp::item(dp::max(lowest)) == -1.0f);

  const dp::tensor shares = dp::softmax(x);
  for (std::size_t row = 0; row < short_rows; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < short_columns; ++i) sum += std::exp(static_cast<double>(x(row, i)) - largest);
    for (std::size_t i = 0; i < short_columns; ++i) {
      const double expected = std::exp(static_cast<double>(x(row, i)) - largest) / sum;
      const double step = std::is_same_v<T, dp::half> ? 0x1p-11 : 0x1p-8;
      if (std::abs(static_cast<double>(shares(row, i)) - expected) > 1.01 * step * expected + 0x1p-25)
        CHECK(static_cast<double>(shares(row, i)) == expected);
    }
  }
}

template <class T> void check_places_and_order() {
  const auto x = short_numbers<T>();
  const dp::tensor copied = dp::to<dp::cpu>(x);
  std::vector<T> memory(x.size());
  dp::copy(dp::wrap(memory, dp::extents<short_rows, short_columns>{}), x);
  const dp::tensor<T, dp::extents<6>, dp::cpu> unsorted{1.5f, -0.25f, 2, -3.5f, 1.25f, 0};
  const auto sorted = dp::sort(unsorted);
  const float expected[] = {-3.5f, -0.25f, 0, 1.25f, 1.5f, 2};
  for (std::size_t i = 0; i < 6; ++i) CHECK(sorted(i) == expected[i]);
  const auto rows = dp::take_rows(x, dp::tensor<std::int64_t, dp::extents<2>, dp::cpu>{6, 2});
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    wrong += copied.data()[i].bits() != x.data()[i].bits() || memory[i].bits() != x.data()[i].bits();
  for (std::size_t i = 0; i < short_columns; ++i)
    wrong += rows(0, i).bits() != x(6, i).bits() || rows(1, i).bits() != x(2, i).bits();
  CHECK(wrong == 0);

  const auto in_float = dp::normal<float, dp::cpu>(dp::extents<100>{}, dp::seed{3}, 1, 2);
  const auto normal = dp::normal<T, dp::cpu>(dp::extents<100>{}, dp::seed{3}, 1, 2);
  CHECK(not_rounded<T>(normal, [&](std::size_t i) { return in_float(i); }) == 0);
  const auto counted = dp::arange<T, dp::cpu>(1, 2, 0.25f);
  CHECK(counted.size() == 4);
  CHECK(counted(3) == 1.75f);
}

}  // namespace

TEST_CASE("elementwise operations on bf16 and half compute in float and round each result", "[ops][short_elements]") {
  check_elementwise<dp::bf16>();
  check_elementwise<dp::half>();
}

TEST_CASE("cast converts bf16 and half to and from every element type", "[ops][short_elements]") {
  check_conversions<dp::bf16>();
  check_conversions<dp::half>();
}

TEST_CASE("reductions and softmax of bf16 and half accumulate in more than 16 bits", "[ops][short_elements]") {
  check_reductions<dp::bf16>();
  check_reductions<dp::half>();
}

TEST_CASE("tensors of bf16 and half are copied, sorted, indexed and created like other tensors",
          "[ops][short_elements]") {
  check_places_and_order<dp::bf16>();
  check_places_and_order<dp::half>();
}
