// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/product_gradients.hpp>
#include <devplace/ops/linear_gradients.hpp>

namespace devplace {

template <> struct implementation<backend::cuda, op::linear_gradients> {
  template <class T, class Result>
  static void run(int ordinal, const detail::gemm_arguments<T, Result>& g, Result* bias_gradient) {
    detail::multiply_with_sums(ordinal, g, bias_gradient, detail::kernel_launch{ordinal});
  }
};

template <> struct implementation<backend::cuda, op::relu_gradient> {
  // By the estimates in docs/gpu-runs.md, a product of up to about 30 outputs in float takes less time than the memory
  // traffic of a separate product; 16 leaves a margin.
  static constexpr std::size_t most_outputs = 16;
  template <class T, class Sum> static void run(int ordinal, const detail::relu_gradient_arguments<T, Sum>& g) {
    detail::relu_gradient(ordinal, g, detail::kernel_launch{ordinal});
  }
};

}  // namespace devplace
