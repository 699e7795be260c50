// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/half.hpp>

#include "ops/statistics_device_case.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;

TEST_CASE("statistics on a GPU equal the CPU's", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  dp::test::check_statistics<dp::cuda<0>, float, double, std::int32_t>();
  dp::test::check_statistics_of<dp::cuda<0>, std::int64_t>(70, 33);
  dp::test::check_statistics_of<dp::cuda<0>, std::uint8_t>(70, 33);
}

TEST_CASE("statistics of 16-bit elements on a GPU", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  dp::test::check_short_statistics<dp::cuda<0>, dp::bf16>();
  dp::test::check_short_statistics<dp::cuda<0>, dp::half>();
}
