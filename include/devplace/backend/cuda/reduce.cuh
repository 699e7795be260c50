// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/for_each.cuh>
#include <devplace/ops/detail/reduction_plan.hpp>

namespace devplace {

namespace detail {

/// One block for each result, and more rounds where there are more results than blocks. Thread t takes the positions t,
/// t + Threads, ...; the threads' accumulators are merged in a tree. Threads is a power of two.
template <unsigned Threads, class Source, class Reducer>
__global__ void __launch_bounds__(Threads) reduce_kernel(reduction_plan<Source, Reducer> plan) {
  using accumulator = typename Reducer::accumulator;
  __shared__ accumulator partial[Threads];
  const unsigned thread = threadIdx.x;
  for (std::size_t output = blockIdx.x; output < plan.outer * plan.inner; output += gridDim.x) {
    const std::size_t base = output / plan.inner * plan.count * plan.inner + output % plan.inner;
    accumulator sum = Reducer::identity();
    for (std::size_t k = thread; k < plan.count; k += Threads)
      Reducer::add(sum, plan.source(base + k * plan.inner), k);
    partial[thread] = sum;
    __syncthreads();
    for (unsigned half = Threads / 2; half != 0; half /= 2) {
      if (thread < half) Reducer::merge(partial[thread], partial[thread + half]);
      __syncthreads();
    }
    if (thread == 0) plan.reducer.store(output, partial[0]);
    __syncthreads();
  }
}

}  // namespace detail

/// Without atomics and workspace: the bits depend on the shape alone.
template <>
struct implementation<backend::cuda, op::reduce> {
  template <class Source, class Reducer>
  static void run(int ordinal, const detail::reduction_plan<Source, Reducer>& plan) {
    const detail::cuda_device_guard device(ordinal);
    constexpr std::size_t most_blocks = std::size_t{1} << 20;
    const std::size_t outputs = plan.outer * plan.inner;
    const auto blocks = static_cast<unsigned>(outputs < most_blocks ? outputs : most_blocks);
    if (plan.count <= 1024)
      detail::launch_kernel(ordinal, detail::reduce_kernel<64, Source, Reducer>, blocks, 64u, plan);
    else
      detail::launch_kernel(ordinal, detail::reduce_kernel<1024, Source, Reducer>, blocks, 1024u, plan);
  }
};

}  // namespace devplace
