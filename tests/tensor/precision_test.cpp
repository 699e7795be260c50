// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/tensor/precision.hpp>

#include <concepts>
#include <cstdint>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("the precisions are float, double and tf32 with float elements", "[tensor]") {
  STATIC_REQUIRE(dp::precision<float>);
  STATIC_REQUIRE(dp::precision<double>);
  STATIC_REQUIRE(dp::precision<dp::tf32>);
  STATIC_REQUIRE(!dp::precision<std::int32_t>);
  STATIC_REQUIRE(std::same_as<dp::element_of_t<dp::tf32>, float>);
  STATIC_REQUIRE(std::same_as<dp::element_of_t<double>, double>);
  STATIC_REQUIRE(!dp::element<dp::tf32>);
}

TEST_CASE("a mixed precision has a short type for layers and float for the optimizer", "[tensor]") {
  using mixed = dp::precision_traits<dp::mixed<dp::bf16>>;
  STATIC_REQUIRE(dp::precision<dp::mixed<dp::bf16>>);
  STATIC_REQUIRE(dp::precision<dp::mixed<dp::half>>);
  STATIC_REQUIRE(std::same_as<dp::element_of_t<dp::mixed<dp::half>>, dp::half>);
  STATIC_REQUIRE(!dp::precision<dp::bf16>);
  STATIC_REQUIRE(std::same_as<mixed::parameter, float>);
  STATIC_REQUIRE(std::same_as<mixed::working, dp::bf16>);
  STATIC_REQUIRE(std::same_as<mixed::activation, dp::bf16>);
  STATIC_REQUIRE(std::same_as<mixed::gradient, float>);
  STATIC_REQUIRE(std::same_as<mixed::state, float>);
  STATIC_REQUIRE(std::same_as<mixed::accumulator, float>);
  STATIC_REQUIRE(std::same_as<mixed::wire, float>);
}
