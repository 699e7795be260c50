// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/strided_case.hpp"
#include "support/cuda_device.hpp"

namespace {
using host = devplace::on<devplace::cpu>;
using device = devplace::on<devplace::cuda<0>>;
}  // namespace

TEST_CASE("a GPU computes with strided views as the CPU does", "[ops][strided]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  strided_case::check_elementwise<device>();
  strided_case::check_details<device>();
  strided_case::check_overlap<device>();
}

TEST_CASE("copies take strided views to and from a GPU", "[ops][strided]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  strided_case::check_copies<device, device>();
  strided_case::check_copies<device, host>();
  strided_case::check_copies<host, device>();
}

TEST_CASE("a GPU multiplies arrays of matrices with strides", "[ops][strided]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  strided_case::check_products<device, float>();
  strided_case::check_products<device, double>();
  strided_case::check_leading_axes<device>();
}
