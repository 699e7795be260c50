// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/elementwise_device_case.hpp"
#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;
using device = dp::on<dp::cuda<0>>;

TEST_CASE("a GPU computes expressions like the CPU", "[ops][elementwise]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  CHECK(dp::test::exact_formulas_differ_by<device>() == 0);
  CHECK(dp::test::approximate_formulas_differ_by<device>() < 1e-6);
  CHECK(dp::test::assignments_differ_by<device>() < 1e-6);  // products and differences may be contracted to FMA
}

TEST_CASE("a GPU draws the CPU's random numbers and scales bytes alike, to the bit", "[ops][random]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  CHECK(dp::test::random_numbers_differ_by<device>() == 0);
  CHECK(dp::test::scaled_bytes_differ_by<device>() == 0);
}

TEST_CASE("printing copies from a GPU", "[tensor][print]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  CHECK(dp::test::printed<device>() == "tensor<float, 2x2> on cuda:0\n[[ 1.   2.5]\n [-3.   4. ]]");
}
