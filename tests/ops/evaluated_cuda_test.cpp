// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/evaluated_case.hpp"
#include "support/cuda_device.hpp"

TEST_CASE("operations on stored elements take expressions, on a GPU", "[ops][evaluated]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  evaluated_case::check_operations_on_expressions<devplace::cuda<0>>();
}
