// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace {

template <> struct implementation<backend::cuda, op::for_each> {
  template <class F> static void run(int ordinal, std::size_t n, std::size_t, const F& f) {
    with_kernel(n, f, detail::kernel_launch{ordinal});
  }
};

}  // namespace devplace
