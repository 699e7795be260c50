// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/take_rows.hpp>
#include <devplace/place/backend.hpp>

namespace devplace {

template <> struct implementation<backend::cuda, op::take_rows> {
  template <class T, class Index> static void run(int ordinal, const detail::row_taker<T, Index>& take) {
    const auto kernel = detail::make_take_rows_kernel(take);
    if (kernel.n != 0) detail::kernel_launch{ordinal}(kernel.blocks(), kernel);
  }
};

}  // namespace devplace
