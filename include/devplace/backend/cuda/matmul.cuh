// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/product.hpp>
#include <devplace/ops/matmul.hpp>

namespace devplace {

template <> struct implementation<backend::cuda, op::matmul> {
  /// Computes gemm_arguments or a gemm_batch.
  template <class Products> static void run(int ordinal, const Products& g) {
    detail::multiply(ordinal, g, detail::kernel_launch{ordinal});
  }
};

}  // namespace devplace
