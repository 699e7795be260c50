// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>

#include <devplace/backend/cuda/planning.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/backend/cuda/simt_thread.cuh>

namespace devplace::detail {

/// Returns the minimum number of blocks per multiprocessor: the kernel's member `least_blocks`, or 0 for the compiler's
/// choice. The minimum limits the registers per thread; the compiler spills the rest.
template <class Kernel> constexpr unsigned least_blocks() {
  if constexpr (requires { Kernel::least_blocks; })
    return Kernel::least_blocks;
  else
    return 0;
}

/// The only __global__ function: every kernel is a body together with its arguments (backend/cuda/kernels).
template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads, least_blocks<Kernel>()) simt_kernel(const Kernel kernel) {
  static_assert(Kernel::threads % 32 == 0);
  simt_thread thread;
  kernel(thread);
}

template <class Kernel> struct kernel_call {
  const void* function;
  unsigned blocks, threads;
  alignas(16) Kernel kernel;
};

inline void launch_kernel(const void* arguments, int ordinal, cudaStream_t stream) {
  struct first_members {
    const void* function;
    unsigned blocks, threads;
  } call;
  static_assert(sizeof call == 16);
  std::memcpy(&call, arguments, sizeof call);
  void* kernel[] = {const_cast<std::byte*>(static_cast<const std::byte*>(arguments)) + sizeof call};
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(call.blocks);
  configuration.blockDim = dim3(call.threads);
  configuration.stream = stream;
  check_cuda(cudaLaunchKernelExC(&configuration, call.function, kernel), "cudaLaunchKernelEx", ordinal);
}

/// Launches kernels on the current stream of the place, with at most 2^20 blocks: kernels loop with the grid as stride.
struct kernel_launch {
  int ordinal;

  template <class Kernel> void operator()(std::size_t blocks, const Kernel& kernel) const {
    if (only_plans()) return;
    constexpr std::size_t most_blocks = std::size_t{1} << 20;
    kernel_call<Kernel> call{reinterpret_cast<const void*>(&simt_kernel<Kernel>),
                             static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), Kernel::threads,
                             kernel};
    clear_padding(call);
    cuda_scope(ordinal).enqueue(launch_kernel, kernel_name<Kernel>(), &call, sizeof call);
  }
};

}  // namespace devplace::detail
