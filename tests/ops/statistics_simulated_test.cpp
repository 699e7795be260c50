// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/half.hpp>

#include "ops/statistics_device_case.hpp"

namespace dp = devplace;

TEST_CASE("statistics on simulated devices equal the CPU's", "[ops]") { dp::test::check_statistics<dp::cuda<1>>(); }

TEST_CASE("statistics of 16-bit elements on simulated devices", "[ops]") {
  dp::test::check_short_statistics<dp::cuda<1>, dp::bf16>();
  dp::test::check_short_statistics<dp::cuda<1>, dp::half>();
}
