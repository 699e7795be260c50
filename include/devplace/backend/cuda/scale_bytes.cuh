// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/kernels/scale_bytes.hpp>
#include <devplace/backend/cuda/launch.cuh>
#include <devplace/ops/scale_bytes.hpp>

namespace devplace {

template <>
struct implementation<backend::cuda, op::scale_bytes> {
  template <class T>
  static void run(int ordinal, std::size_t n, T* to, const std::uint8_t* from, const byte_scale<T>& scale) {
    const auto kernel = detail::make_scale_bytes_kernel(n, to, from, scale);
    detail::launch(ordinal, (kernel.rounds() + kernel.threads - 1) / kernel.threads, kernel);
  }
};

}  // namespace devplace
