// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/math.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/tensor/distributed.hpp>

#include "ops/distributed_tensors.hpp"
#include "ops/math_case.hpp"
#include "support/catch.hpp"
namespace dp = devplace;
namespace math_case = dp::test::math_case;
using backend = devplace::backend::cuda;

// A simulated device calls the CPU's functions, which math_test.cpp checks for all element types.
TEST_CASE("functions of float elements are NumPy's, on a simulated device", "[ops][math]") {
  math_case::check_floating<backend, float>();
}

TEST_CASE("functions of integers are NumPy's at their limits, on a simulated device", "[ops][math]") {
  math_case::check_integers<backend, std::int64_t>("i64/");
}

TEST_CASE("functions of 16-bit elements round those of float once, on a simulated device", "[ops][math]") {
  math_case::check_short_elements<backend, devplace::bf16>();
}

TEST_CASE("functions are fused, also into strided views, on a simulated device", "[ops][math]") {
  math_case::check_fused<backend>();
}

TEST_CASE("functions of replicated and split tensors stay on their places", "[ops][math][algebra]") {
  using matrix = dp::extents<7, 3>;
  using whole = dp::replicated<0, 1, 2>;
  using rows = dp::sharded<dp::axis<0>, 0, 1, 2>;
  using dp::test::small_number;
  const auto a = dp::test::distributed_numbers<rows>(matrix{}, 1);
  const auto b = dp::test::distributed_numbers<whole>(dp::extents<3>{}, 2);
  dp::tensor y = dp::clamp(dp::remainder(a, b) + dp::sin(0 * a), -2, dp::abs(b));
  STATIC_REQUIRE(std::same_as<decltype(y), dp::tensor<float, matrix, rows>>);
  CHECK(dp::test::value_of(y) == dp::test::values_by_index(21, [](std::size_t i) {
          const float x = small_number(i, 1), n = small_number(i % 3, 2);
          return std::min(std::max(x - n * std::floor(x / n), -2.0F), std::fabs(n));
        }));
  const dp::tensor large = dp::logical_and(dp::isfinite(b), dp::floor(b / 2) > 1);
  STATIC_REQUIRE(std::same_as<decltype(large), const dp::tensor<std::uint8_t, dp::extents<3>, whole>>);
  CHECK(dp::test::value_of(large) ==
        dp::test::values_by_index(3, [](std::size_t i) { return static_cast<std::uint8_t>(small_number(i, 2) >= 4); }));
}
