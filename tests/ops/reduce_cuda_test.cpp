// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/reduce_device_case.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;

TEST_CASE("reductions on a GPU equal the CPU's", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  dp::test::check_reductions<dp::cuda<0>>();
}

TEST_CASE("sums on a GPU have the same bits in every run", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  dp::test::check_bits_of_sums<dp::cuda<0>>();
}
