// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/ops/statistics.hpp>
#include <devplace/tensor/distributed.hpp>

#include "ops/distributed_tensors.hpp"
#include "support/catch.hpp"

namespace dp = devplace;
using namespace dp::test;

namespace {

using whole = dp::replicated<0, 1, 2>;
using rows = dp::sharded<dp::axis<0>, 0, 1, 2>;
template <dp::reduction Op> using partial = dp::partial<Op, 0, 1, 2>;
using sums = partial<dp::reduction::sum>;
using maxima = partial<dp::reduction::max>;
using minima = partial<dp::reduction::min>;

using matrix = dp::extents<dp::dyn, 3>;
using fixed = dp::extents<7, 3>;
using scalar = dp::extents<>;

const auto larger = [](auto a, auto b) { return std::max(a, b); };
const auto smaller = [](auto a, auto b) { return std::min(a, b); };

/// Combines column j of n rows of three numbers, starting from `first`.
template <class Combine> auto over_columns(const std::vector<float>& values, float first, Combine combine) {
  return values_by_index(3, [&](std::size_t j) {
    float total = first;
    for (std::size_t i = j; i < values.size(); i += 3) total = combine(total, values[i]);
    return total;
  });
}
const auto plus = [](float a, float b) { return a + b; };

}  // namespace

TEST_CASE("a sum over the split axis is partial", "[ops][algebra]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 2, 3, 20}) {
    const auto x = distributed_numbers<rows>(matrix(n), 1);
    const auto of_x = small_numbers(matrix(n), 1);
    const auto columns = dp::sum(x, dp::axis<0>{});
    STATIC_REQUIRE(std::same_as<decltype(columns), const dp::tensor<float, dp::extents<3>, sums>>);
    CHECK(value_of(columns) == over_columns(of_x, 0, plus));
    const auto total = dp::sum(x);
    STATIC_REQUIRE(std::same_as<decltype(total), const dp::tensor<float, scalar, sums>>);
    float expected = 0;
    for (const float value : of_x) expected += value;
    CHECK(value_of(total) == std::vector<float>{expected});
    const auto count = dp::sum(x > 0);
    STATIC_REQUIRE(std::same_as<decltype(count), const dp::tensor<std::int64_t, scalar, sums>>);
    CHECK(value_of(count)[0] == std::count_if(of_x.begin(), of_x.end(), [](float value) { return value > 0; }));
  }
}

TEST_CASE("extrema over the split axis are partial; a place without rows changes nothing", "[ops][algebra]") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::size_t n : std::vector<std::size_t>{1, 2, 3, 20}) {
    const auto x = distributed_numbers<rows>(matrix(n), 1);
    const auto of_x = small_numbers(matrix(n), 1);
    const auto most = dp::max(x, dp::axis<0>{});
    const auto least = dp::min(x, dp::axis<0>{});
    STATIC_REQUIRE(std::same_as<decltype(most), const dp::tensor<float, dp::extents<3>, maxima>>);
    STATIC_REQUIRE(std::same_as<decltype(least), const dp::tensor<float, dp::extents<3>, minima>>);
    CHECK(value_of(most, larger) == over_columns(of_x, -infinity, larger));
    CHECK(value_of(least, smaller) == over_columns(of_x, infinity, smaller));
    CHECK(value_of(dp::max(x), larger)[0] == *std::max_element(of_x.begin(), of_x.end()));
    const dp::tensor integers = dp::cast<std::int64_t>(x);
    CHECK(value_of(dp::min(integers), smaller)[0] ==
          static_cast<std::int64_t>(*std::min_element(of_x.begin(), of_x.end())));
  }
  const auto nothing = distributed_numbers<rows>(matrix(0), 1);
  CHECK_THROWS_AS(dp::max(nothing, dp::axis<0>{}), dp::argument_error);
  CHECK_THROWS_AS(dp::min(nothing), dp::argument_error);
}

TEST_CASE("reductions over several places write to existing tensors", "[ops][algebra]") {
  const auto x = distributed_numbers<rows>(fixed{}, 1);
  const auto columns = over_columns(small_numbers(fixed{}, 1), 0, plus);
  dp::tensor<float, dp::extents<3>, sums> y;
  dp::sum_into(y, x, dp::axis<0>{});
  CHECK(value_of(y) == columns);
  dp::sum_into(y, x * 2.0f, {.accumulate = true}, dp::axis<0>{});
  CHECK(value_of(y) == values_by_index(3, [&](std::size_t j) { return 3 * columns[j]; }));
  dp::tensor<float, dp::extents<3>, maxima> most;
  dp::max_into(most, x, dp::axis<0>{});
  CHECK(value_of(most, larger) == value_of(dp::max(x, dp::axis<0>{}), larger));
  dp::tensor<float, dp::extents<7>, rows> of_rows;
  dp::mean_into(of_rows, x, dp::axis<1>{});
  CHECK(value_of(of_rows) == value_of(dp::mean(x, dp::axis<1>{})));
  dp::tensor<float, dp::extents<7>, rows> other(dp::extents<7>{}, dp::split::sizes(1, 2, 4));
  CHECK_THROWS_AS(dp::mean_into(other, x, dp::axis<1>{}), dp::shape_error);
  const auto copies = distributed_numbers<whole>(fixed{}, 1);
  dp::tensor<float, dp::dextents<1>, whole> of_copies(dp::dextents<1>{3});
  dp::sum_into(of_copies, copies, dp::axis<0>{});
  CHECK(value_of(of_copies) == columns);
  CHECK_THROWS_AS(dp::sum_into(of_copies, copies, dp::axis<1>{}), dp::shape_error);
}

TEST_CASE("along another axis the result is split like the operand", "[ops][algebra]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 3, 20}) {
    const auto x = distributed_numbers<rows>(matrix(n), 1);
    const auto at = [](std::size_t i, std::size_t j) { return small_number(3 * i + j, 1); };
    const auto total = dp::sum(x, dp::axis<1>{});
    STATIC_REQUIRE(std::same_as<decltype(total), const dp::tensor<float, dp::extents<dp::dyn>, rows>>);
    CHECK(value_of(total) == values_by_index(n, [&](std::size_t i) { return at(i, 0) + at(i, 1) + at(i, 2); }));
    CHECK(total.first_row(2) == x.first_row(2));
    const auto mean = dp::mean(x * 3.0f, dp::axis<1>{});
    CHECK(value_of(mean) == value_of(total));
    const auto most = dp::max(x, dp::axis<1>{});
    CHECK(value_of(most) ==
          values_by_index(n, [&](std::size_t i) { return std::max({at(i, 0), at(i, 1), at(i, 2)}); }));
    const auto position = dp::argmax(x, dp::axis<1>{});
    STATIC_REQUIRE(std::same_as<decltype(position), const dp::tensor<std::int64_t, dp::extents<dp::dyn>, rows>>);
    CHECK(value_of(position) == values_by_index(n, [&](std::size_t i) {
            return static_cast<std::int64_t>(at(i, 0) >= at(i, 1) ? (at(i, 0) >= at(i, 2) ? 0 : 2)
                                                                  : (at(i, 1) >= at(i, 2) ? 1 : 2));
          }));
  }
  const auto cube = distributed_numbers<rows>(dp::extents<4, 2, 3>{}, 1);
  const auto middle = dp::sum(cube, dp::axis<1>{});
  STATIC_REQUIRE(std::same_as<decltype(middle), const dp::tensor<float, dp::extents<4, 3>, rows>>);
  CHECK(value_of(middle) == values_by_index(12, [](std::size_t i) {
          return small_number(i / 3 * 6 + i % 3, 1) + small_number(i / 3 * 6 + 3 + i % 3, 1);
        }));
  const auto rows_of_cube = dp::sum(cube, dp::axis<2>{}, dp::axis<1>{});
  STATIC_REQUIRE(std::same_as<decltype(rows_of_cube), const dp::tensor<float, dp::extents<4>, rows>>);
  CHECK(value_of(rows_of_cube) == values_by_index(4, [](std::size_t i) {
          float sum = 0;
          for (std::size_t k = 0; k < 6; ++k) sum += small_number(i * 6 + k, 1);
          return sum;
        }));
  const auto summands = dp::sum(cube, dp::axis<0>{}, dp::axis<2>{});  // non-adjacent axes
  STATIC_REQUIRE(std::same_as<decltype(summands), const dp::tensor<float, dp::extents<2>, sums>>);
  CHECK(value_of(summands) == values_by_index(2, [](std::size_t j) {
          float sum = 0;
          for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t k = 0; k < 3; ++k) sum += small_number(i * 6 + j * 3 + k, 1);
          return sum;
        }));
}

TEST_CASE("counts, any, all and norms over the split axis are partial", "[ops][algebra]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 2, 3, 20}) {
    const auto x = distributed_numbers<rows>(matrix(n), 1);
    const auto of_x = small_numbers(matrix(n), 1);
    const auto column = [&](std::size_t j, auto first, auto combine) {
      for (std::size_t i = j; i < of_x.size(); i += 3) first = combine(first, of_x[i]);
      return first;
    };
    const auto count = dp::count_nonzero(x, dp::axis<0>{});
    STATIC_REQUIRE(std::same_as<decltype(count), const dp::tensor<std::int64_t, dp::extents<3>, sums>>);
    CHECK(value_of(count) == values_by_index(3, [&](std::size_t j) {
            return column(j, std::int64_t{0}, [](std::int64_t a, float b) { return a + (b != 0); });
          }));
    const auto any = dp::any(x > 4, dp::axis<0>{});
    STATIC_REQUIRE(std::same_as<decltype(any), const dp::tensor<std::uint8_t, dp::extents<3>, maxima>>);
    CHECK(value_of(any, larger) == values_by_index(3, [&](std::size_t j) {
            return column(j, std::uint8_t{0}, [](std::uint8_t a, float b) -> std::uint8_t { return a != 0 || b > 4; });
          }));
    const auto all = dp::all(x > -4, dp::axis<0>{});
    STATIC_REQUIRE(std::same_as<decltype(all), const dp::tensor<std::uint8_t, dp::extents<3>, minima>>);
    CHECK(value_of(all, smaller) == values_by_index(3, [&](std::size_t j) {
            return column(j, std::uint8_t{1}, [](std::uint8_t a, float b) -> std::uint8_t { return a != 0 && b > -4; });
          }));
    CHECK(value_of(dp::norm<1>(x, dp::axis<0>{})) == values_by_index(3, [&](std::size_t j) {
            return column(j, 0.0F, [](float a, float b) { return a + std::abs(b); });
          }));
    CHECK(value_of(dp::norm<dp::infinite_order>(x, dp::axis<0>{}), larger) == values_by_index(3, [&](std::size_t j) {
            return column(j, 0.0F, [](float a, float b) { return std::max(a, std::abs(b)); });
          }));
  }
}

TEST_CASE("products, variances and logsumexp along another axis are split like the operand", "[ops][algebra]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 3, 20}) {
    const auto x = distributed_numbers<rows>(matrix(n), 1);
    const auto at = [](std::size_t i, std::size_t j) { return small_number(3 * i + j, 1); };
    const auto products = dp::prod(x, dp::axis<1>{});
    STATIC_REQUIRE(std::same_as<decltype(products), const dp::tensor<float, dp::extents<dp::dyn>, rows>>);
    CHECK(value_of(products) == values_by_index(n, [&](std::size_t i) { return at(i, 0) * at(i, 1) * at(i, 2); }));
    // Squares of sums and differences of small integers are exact.
    const auto deviations = dp::variance<1>(x * 3.0F, dp::axis<1>{});
    CHECK(value_of(deviations) == values_by_index(n, [&](std::size_t i) {
            const float mean = at(i, 0) + at(i, 1) + at(i, 2);
            const auto square = [&](std::size_t j) { return (3 * at(i, j) - mean) * (3 * at(i, j) - mean); };
            return (square(0) + square(1) + square(2)) / 2;
          }));
    const auto largest = dp::logsumexp(x * 1000.0F, dp::axis<1>{});
    STATIC_REQUIRE(std::same_as<decltype(largest), const dp::tensor<float, dp::extents<dp::dyn>, rows>>);
    CHECK(largest.first_row(2) == x.first_row(2));
  }
}

TEST_CASE("reductions of replicated tensors are replicated", "[ops][algebra]") {
  const auto x = distributed_numbers<whole>(fixed{}, 1);
  const auto of_x = small_numbers(fixed{}, 1);
  const auto columns = dp::sum(x, dp::axis<0>{});
  STATIC_REQUIRE(std::same_as<decltype(columns), const dp::tensor<float, dp::extents<3>, whole>>);
  CHECK(value_of(columns) == over_columns(of_x, 0, plus));
  CHECK(value_of(dp::mean(x * 7.0f, dp::axis<0>{})) == value_of(columns));
  const auto position = dp::argmin(x);
  STATIC_REQUIRE(std::same_as<decltype(position), const dp::tensor<std::int64_t, scalar, whole>>);
  CHECK(value_of(position)[0] == std::min_element(of_x.begin(), of_x.end()) - of_x.begin());
}

TEST_CASE("a partial tensor's reduction along an axis is partial if both operations commute", "[ops][algebra]") {
  const auto p = distributed_numbers<sums>(fixed{}, 1);
  const auto columns = dp::sum(p, dp::axis<0>{});
  STATIC_REQUIRE(std::same_as<decltype(columns), const dp::tensor<float, dp::extents<3>, sums>>);
  CHECK(value_of(columns) == over_columns(value_of(p), 0, plus));
  CHECK(value_of(dp::mean(p * 7.0f, dp::axis<0>{})) == value_of(columns));
  const auto m = distributed_numbers<maxima>(fixed{}, 1);
  const auto most = dp::max(m, dp::axis<0>{});
  STATIC_REQUIRE(std::same_as<decltype(most), const dp::tensor<float, dp::extents<3>, maxima>>);
  CHECK(value_of(most, larger) == over_columns(value_of(m, larger), -100, larger));
}
