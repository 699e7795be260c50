// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/backend/cuda/simt_thread.cuh>

namespace devplace::detail {

/// How many blocks of a kernel a multiprocessor shall hold at least: the compiler keeps off the registers what does not
/// fit then, and nothing else. 0, unless the kernel has a member `least_blocks`: the compiler weighs.
template <class Kernel>
constexpr unsigned least_blocks() {
  if constexpr (requires { Kernel::least_blocks; })
    return Kernel::least_blocks;
  else
    return 0;
}

/// What is launched: every kernel is a body with its arguments (backend/cuda/kernels).
template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads, least_blocks<Kernel>()) simt_kernel(const Kernel kernel) {
  simt_thread thread;
  kernel(thread);
}

/// Launches a kernel on the stream of the place `ordinal`, with `blocks` blocks of Kernel::threads, or with fewer
/// where that is many: kernels take their work in rounds of as many blocks as there are.
template <class Kernel>
void launch(int ordinal, std::size_t blocks, const Kernel& kernel) {
  constexpr std::size_t most_blocks = std::size_t{1} << 20;
  const cuda_scope device(ordinal);
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks));
  configuration.blockDim = dim3(Kernel::threads);
  configuration.stream = device.stream();
  check_cuda(cudaLaunchKernelEx(&configuration, simt_kernel<Kernel>, kernel), "cudaLaunchKernelEx", ordinal);
  after_launch(device, ordinal, kernel_name<Kernel>());
}

}  // namespace devplace::detail
