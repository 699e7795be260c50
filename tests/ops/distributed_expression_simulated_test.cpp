// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/memory/statistics.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/distributed.hpp>

#include "ops/distributed_tensors.hpp"
#include "support/catch.hpp"

namespace dp = devplace;
using namespace dp::test;

namespace {

using whole = dp::replicated<0, 1, 2>;
using rows = dp::sharded<dp::axis<0>, 0, 1, 2>;
using sums = dp::partial<dp::reduction::sum, 0, 1, 2>;
using means = dp::partial<dp::reduction::mean, 0, 1, 2>;
using maxima = dp::partial<dp::reduction::max, 0, 1, 2>;
using minima = dp::partial<dp::reduction::min, 0, 1, 2>;

using matrix = dp::extents<dp::dyn, 3>;
using fixed = dp::extents<7, 3>;
using row = dp::extents<3>;

template <class X> using where_of = typename std::remove_cvref_t<X>::placement_type;

struct scaled_sum {
  float factor;
  DEVPLACE_HD float operator()(float a, std::int32_t b) const { return factor * (a + static_cast<float>(b)); }
};

}  // namespace

TEST_CASE("replicated operands give a replicated result", "[ops][algebra]") {
  const auto a = distributed_numbers<whole>(fixed{}, 1);
  const auto b = distributed_numbers<whole>(row{}, 2);
  auto e = a * 2.0f - b;
  STATIC_REQUIRE(decltype(e)::is_distributed_expression);
  dp::tensor c = std::move(e);
  STATIC_REQUIRE(std::same_as<decltype(c), dp::tensor<float, fixed, whole>>);
  CHECK(value_of(c) ==
        values_by_index(21, [](std::size_t i) { return small_number(i, 1) * 2 - small_number(i % 3, 2); }));
  c = dp::relu(1.0f - c);
  CHECK(value_of(c) == values_by_index(21, [](std::size_t i) {
          return std::max(1 - (small_number(i, 1) * 2 - small_number(i % 3, 2)), 0.0f);
        }));
}

TEST_CASE("split operands give a result with their split", "[ops][algebra]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 2, 3, 8, 50}) {
    const auto a = distributed_numbers<rows>(matrix(n), 1);
    const auto b = distributed_numbers<rows>(matrix(n), 2);
    dp::tensor c = a + 2.0f * b;
    STATIC_REQUIRE(std::same_as<decltype(c), dp::tensor<float, matrix, rows>>);
    CHECK(value_of(c) ==
          values_by_index(3 * n, [](std::size_t i) { return small_number(i, 1) + 2 * small_number(i, 2); }));
    for (std::size_t k = 0; k != 3; ++k) CHECK(c.local(k).extent(0) == a.local(k).extent(0));
    dp::tensor larger = a > b;
    STATIC_REQUIRE(std::same_as<decltype(larger), dp::tensor<std::uint8_t, matrix, rows>>);
    CHECK(value_of(larger) == values_by_index(3 * n, [](std::size_t i) {
            return static_cast<std::uint8_t>(small_number(i, 1) > small_number(i, 2));
          }));
  }
}

TEST_CASE("a replicated operand without the split axis combines with a split one", "[ops][algebra]") {
  const auto x = distributed_numbers<rows>(matrix(8), 1);
  const auto bias = distributed_numbers<whole>(row{}, 2);
  const auto flat = distributed_numbers<whole>(dp::extents<1, 3>{}, 3);
  const auto scale = distributed_numbers<whole>(dp::extents<>{}, 4);
  const auto dynamic = distributed_numbers<whole>(matrix(1), 5);
  dp::tensor y = dp::relu(x * scale + bias) - (flat - dynamic);
  STATIC_REQUIRE(std::same_as<where_of<decltype(y)>, rows>);
  CHECK(value_of(y) == values_by_index(24, [](std::size_t i) {
          return std::max(small_number(i, 1) * small_number(0, 4) + small_number(i % 3, 2), 0.0f) -
                 (small_number(i % 3, 3) - small_number(i % 3, 5));
        }));
  const auto column = distributed_numbers<rows>(dp::extents<dp::dyn, 1>(8), 6);
  dp::tensor z = bias / column;
  STATIC_REQUIRE(std::same_as<decltype(z), dp::tensor<float, matrix, rows>>);
  CHECK(value_of(z) ==
        values_by_index(24, [](std::size_t i) { return small_number(i % 3, 2) / small_number(i / 3, 6); }));
}

TEST_CASE("an operation that needs another place's rows throws shape_error", "[ops][algebra]") {
  const auto x = distributed_numbers<rows>(matrix(8), 1);
  const auto shorter = distributed_numbers<rows>(matrix(7), 1);
  const auto single = distributed_numbers<rows>(matrix(1), 1);
  const auto replica = distributed_numbers<whole>(matrix(8), 1);
  auto y = distributed_numbers<rows>(matrix(8), 1);
  CHECK_THROWS_AS(x + shorter, dp::shape_error);
  CHECK_THROWS_WITH(x + single, Catch::Matchers::ContainsSubstring("repeated across places"));
  CHECK_THROWS_WITH(single + x, Catch::Matchers::ContainsSubstring("repeated across places"));
  CHECK_THROWS_WITH(x * replica, Catch::Matchers::ContainsSubstring("scatter it first"));
  CHECK_THROWS_AS(y = shorter + 1.0f, dp::shape_error);
  CHECK_THROWS_WITH(y = single + 1.0f, Catch::Matchers::ContainsSubstring("repeated across places"));
  CHECK_THROWS_AS(y += shorter, dp::shape_error);
  CHECK(value_of(y) == small_numbers(matrix(8), 1));
}

TEST_CASE("linear operations on partial operands give summands of the result", "[ops][algebra]") {
  const auto p = distributed_numbers<sums>(fixed{}, 1);
  const auto q = distributed_numbers<sums>(fixed{}, 2);
  const auto factor = distributed_numbers<whole>(dp::extents<>{}, 3);
  const auto columns = distributed_numbers<whole>(row{}, 4);
  dp::tensor r = (p - 3.0f * q) * factor / 2.0f - (-p) * columns;
  STATIC_REQUIRE(std::same_as<decltype(r), dp::tensor<float, fixed, sums>>);
  const auto of_p = value_of(p), of_q = value_of(q);
  CHECK(value_of(r) == values_by_index(21, [&](std::size_t i) {
          return (of_p[i] - 3 * of_q[i]) * small_number(0, 3) / 2 + of_p[i] * small_number(i % 3, 4);
        }));
  const auto m = distributed_numbers<means>(fixed{}, 1);
  dp::tensor n = m + m / 0.5f;
  STATIC_REQUIRE(std::same_as<where_of<decltype(n)>, means>);
  CHECK(value_of(n) == values_by_index(21, [&](std::size_t i) { return 3 * of_p[i]; }));
}

TEST_CASE("a maximum of partial maxima is partial, and so is a minimum of partial minima", "[ops][algebra]") {
  const auto larger = [](float a, float b) { return std::max(a, b); };
  const auto smaller = [](float a, float b) { return std::min(a, b); };
  const auto a = distributed_numbers<maxima>(fixed{}, 1), b = distributed_numbers<maxima>(fixed{}, 2);
  dp::tensor c = dp::maximum(a, b);
  STATIC_REQUIRE(std::same_as<where_of<decltype(c)>, maxima>);
  const auto of_a = value_of(a, larger), of_b = value_of(b, larger);
  CHECK(value_of(c, larger) == values_by_index(21, [&](std::size_t i) { return std::max(of_a[i], of_b[i]); }));
  const auto d = distributed_numbers<minima>(fixed{}, 1), e = distributed_numbers<minima>(fixed{}, 2);
  dp::tensor f = dp::minimum(d, e);
  STATIC_REQUIRE(std::same_as<where_of<decltype(f)>, minima>);
  const auto of_d = value_of(d, smaller), of_e = value_of(e, smaller);
  CHECK(value_of(f, smaller) == values_by_index(21, [&](std::size_t i) { return std::min(of_d[i], of_e[i]); }));
}

TEST_CASE("compound assignment on several places", "[ops][algebra]") {
  auto x = distributed_numbers<rows>(matrix(5), 1);
  const auto bias = distributed_numbers<whole>(row{}, 2);
  ((x += bias) *= 2.0f) -= x * 0.5f;
  CHECK(value_of(x) == values_by_index(15, [](std::size_t i) { return small_number(i, 1) + small_number(i % 3, 2); }));
  x /= 0.25f;
  CHECK(value_of(x)[4] == 4 * (small_number(4, 1) + small_number(1, 2)));
  auto p = distributed_numbers<sums>(fixed{}, 1);
  const auto before = value_of(p);
  p += p;
  p *= -1.0f;
  CHECK(value_of(p) == values_by_index(21, [&](std::size_t i) { return -2 * before[i]; }));
}

TEST_CASE("where, map and cast on several places", "[ops][algebra]") {
  const auto x = distributed_numbers<rows>(matrix(8), 1);
  const auto bias = distributed_numbers<whole>(row{}, 2);
  dp::tensor chosen = dp::where(x > 0, x, bias);
  STATIC_REQUIRE(std::same_as<where_of<decltype(chosen)>, rows>);
  CHECK(value_of(chosen) == values_by_index(24, [](std::size_t i) {
          return small_number(i, 1) > 0 ? small_number(i, 1) : small_number(i % 3, 2);
        }));
  dp::tensor integers = dp::cast<std::int32_t>(x);
  STATIC_REQUIRE(std::same_as<decltype(integers), dp::tensor<std::int32_t, matrix, rows>>);
  dp::tensor mapped = dp::map(scaled_sum{2}, bias, integers);
  CHECK(value_of(mapped) ==
        values_by_index(24, [](std::size_t i) { return 2 * (small_number(i % 3, 2) + small_number(i, 1)); }));
}

TEST_CASE("an expression on several places owns its temporaries", "[ops][algebra]") {
  auto make = [] { return distributed_numbers<rows>(matrix(8), 1) + 1.0f; };
  auto e = dp::lazy(make());
  dp::tensor y = e * 2.0f;  // refers to e
  dp::tensor z = std::move(e) * distributed_numbers<rows>(matrix(8), 2);
  CHECK(value_of(y) == values_by_index(24, [](std::size_t i) { return 2 * (small_number(i, 1) + 1); }));
  CHECK(value_of(z) ==
        values_by_index(24, [](std::size_t i) { return (small_number(i, 1) + 1) * small_number(i, 2); }));
}

TEST_CASE("assignment on several places is one pass on each, without allocation", "[ops][algebra]") {
  const auto a = distributed_numbers<rows>(matrix(30), 1);
  const auto bias = distributed_numbers<whole>(row{}, 2);
  auto c = distributed_numbers<rows>(matrix(30), 3);
  const auto allocations = [] {
    return dp::memory_statistics<dp::cuda<0>>().allocations + dp::memory_statistics<dp::cuda<1>>().allocations +
           dp::memory_statistics<dp::cuda<2>>().allocations;
  };
  const auto before = allocations();
  c = dp::relu(a * 2.0f + bias) - c;
  c += a;
  CHECK(allocations() == before);
}

TEST_CASE("an expression converts to a tensor of other extents if they fit", "[ops][algebra]") {
  const auto a = distributed_numbers<whole>(fixed{}, 1);
  const dp::tensor<float, matrix, whole> b = a + 0.0f;
  CHECK(b.extent(0) == 7);
  CHECK(value_of(b) == small_numbers(fixed{}, 1));
}
