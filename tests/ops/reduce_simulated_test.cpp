// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/reduce_device_case.hpp"

namespace dp = devplace;

TEST_CASE("reductions on simulated devices equal the CPU's", "[ops]") { dp::test::check_reductions<dp::cuda<1>>(); }

TEST_CASE("sums on simulated devices have the same bits in every run", "[ops]") {
  dp::test::check_bits_of_sums<dp::cuda<1>>();
}
