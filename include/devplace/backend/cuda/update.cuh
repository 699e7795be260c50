// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/update.hpp>
#include <devplace/backend/cuda/launch.cuh>
#include <devplace/optim/detail/run_update.hpp>

namespace devplace {

template <>
struct implementation<backend::cuda, op::update> {
  template <class Numbers>
  static void run(int ordinal, std::size_t n, const Numbers& numbers) {
    const auto kernel = detail::make_update_kernel(n, numbers);
    const std::size_t rounds = kernel.groups + (n - kernel.groups * kernel.width);  // of one thread
    detail::launch(ordinal, (rounds + kernel.threads - 1) / kernel.threads, kernel);
  }
};

}  // namespace devplace
