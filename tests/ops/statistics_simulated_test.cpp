// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

#include <devplace/tensor/bf16.hpp>

#include "ops/statistics_device_case.hpp"

namespace dp = devplace;

// A simulated device runs the CPU's loops, which statistics_test.cpp checks for the other element types.
TEST_CASE("statistics on simulated devices equal the CPU's", "[ops]") {
  dp::test::check_statistics<dp::cuda<1>, float>();
  dp::test::check_statistics_of<dp::cuda<1>, std::uint8_t>(70, 33);
}

TEST_CASE("statistics of 16-bit elements on simulated devices", "[ops]") {
  dp::test::check_short_statistics<dp::cuda<1>, dp::bf16>();
}
