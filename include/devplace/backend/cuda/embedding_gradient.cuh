// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/embedding_gradient.hpp>
#include <devplace/place/backend.hpp>

namespace devplace {

template <> struct implementation<backend::cuda, op::embedding_gradient> {
  template <class T, class Gradient, class Index>
  static void run(int ordinal, const detail::embedding_gradient_arguments<T, Gradient, Index>& g) {
    const detail::embedding_gradient_kernel<T, Gradient, Index> kernel{g};
    detail::kernel_launch{ordinal}(kernel.blocks(), kernel);
  }
};

}  // namespace devplace
