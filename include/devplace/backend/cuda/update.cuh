// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/update.hpp>
#include <devplace/runtime/update.hpp>

namespace devplace {

template <> struct implementation<backend::cuda, op::update> {
  template <class Update> static void run(int ordinal, std::size_t n, const Update& update) {
    const auto kernel = detail::make_update_kernel(n, update);
    detail::kernel_launch{ordinal}(kernel.blocks(), kernel);
  }
};

}  // namespace devplace
