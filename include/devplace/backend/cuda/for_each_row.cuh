// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/rows.hpp>
#include <devplace/backend/cuda/launch.cuh>
#include <devplace/ops/for_each_row.hpp>

namespace devplace {

template <>
struct implementation<backend::cuda, op::for_each_row> {
  template <class F>
  static void run(int ordinal, std::size_t rows, std::size_t columns, std::size_t, const F& f) {
    detail::with_row_kernel(rows, columns, f, [ordinal](std::size_t blocks, const auto& kernel) {
      detail::launch(ordinal, blocks, kernel);
    });
  }
};

}  // namespace devplace
