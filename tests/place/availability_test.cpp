// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/place/availability.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("the CPU is always available, a cuda place never without a component", "[place]") {
  CHECK(dp::available<dp::on<dp::cpu>>());
  CHECK(dp::available<dp::replicated_on<dp::cpu>>());
  CHECK_FALSE(dp::available<dp::on<dp::cuda<0>>>());
  CHECK_FALSE(dp::available<dp::replicated<0, 1>>());
  CHECK_FALSE(dp::available<dp::replicated_on<dp::cpu, dp::cuda<0>>>());
  CHECK_FALSE(dp::available<dp::on<dp::pinned>>());  // needs a component that provides devices
}

TEST_CASE("require_available names what to add to the build", "[place]") {
  CHECK_NOTHROW(dp::require_available<dp::on<dp::cpu>>());
  CHECK_THROWS_AS((dp::require_available<dp::on<dp::cuda<1>>>()), dp::placement_unavailable);
  CHECK_THROWS_WITH((dp::require_available<dp::replicated<0, 1>>()),
                    Catch::Matchers::ContainsSubstring("devplace: replicated<cuda:0, cuda:1> cannot be used") &&
                        Catch::Matchers::ContainsSubstring("add devplace::cuda") &&
                        Catch::Matchers::ContainsSubstring("devplace::simulated_cuda"));
}
