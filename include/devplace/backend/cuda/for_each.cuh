// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/runtime.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace {

namespace detail {

inline constexpr unsigned for_each_block = 256;

/// One thread for each index, and more rounds where there are more indices than a grid has threads.
template <class F>
__global__ void __launch_bounds__(for_each_block) for_each_kernel(std::size_t n, F f) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    f(i);
}

/// Launches a kernel on the default stream of the current device, which must be `ordinal`.
template <class... Parameters, class... Arguments>
void launch_kernel(int ordinal, void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                   Arguments... arguments) {
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(blocks);
  configuration.blockDim = dim3(threads);
  check_cuda(cudaLaunchKernelEx(&configuration, kernel, arguments...), "cudaLaunchKernelEx", ordinal);
}

}  // namespace detail

template <>
struct implementation<backend::cuda, op::for_each> {
  template <class F>
  static void run(int ordinal, std::size_t n, std::size_t, const F& f) {
    if (n == 0) return;
    const detail::cuda_device_guard device(ordinal);
    constexpr std::size_t most_blocks = std::size_t{1} << 20;
    const std::size_t blocks = (n + detail::for_each_block - 1) / detail::for_each_block;
    detail::launch_kernel(ordinal, detail::for_each_kernel<F>,
                          static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), detail::for_each_block, n,
                          f);
  }
};

}  // namespace devplace
