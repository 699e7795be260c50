// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/place/availability.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("simulated devices are available up to their number", "[place]") {
  CHECK(dp::available<dp::on<dp::cpu>>());
  CHECK(dp::available<dp::on<dp::cuda<0>>>());
  CHECK(dp::available<dp::replicated<0, 1, 2, 3>>());
  CHECK_FALSE(dp::available<dp::on<dp::cuda<63>>>());
  CHECK_FALSE(dp::available<dp::replicated<0, 63>>());
  CHECK_NOTHROW(dp::require_available<dp::replicated<3, 2>>());
  CHECK_THROWS_AS((dp::require_available<dp::on<dp::cuda<70>>>()), dp::placement_unavailable);
  CHECK_THROWS_WITH(
      (dp::require_available<dp::replicated<0, 63>>()),
      Catch::Matchers::ContainsSubstring("replicated<cuda:0, cuda:63> cannot be used: cuda:63 does not") &&
          Catch::Matchers::ContainsSubstring("DEVPLACE_SIMULATED_DEVICES to 64"));
}
