// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/reduce.hpp>
#include <devplace/backend/cuda/kernels/rows_kernel.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernels.hpp"

// Launches single kernels on the GPU in software, in random order of blocks, warps and lanes.

namespace devplace::test::mock_cuda {

template <class T> struct pinned_allocator {
  using value_type = T;

  pinned_allocator() = default;
  template <class U> pinned_allocator(const pinned_allocator<U>&) {}
  T* allocate(std::size_t n) {
    void* data = nullptr;
    if (cudaHostAlloc(&data, n * sizeof(T), cudaHostAllocPortable) != cudaSuccess) throw std::bad_alloc();
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t) { static_cast<void>(cudaFreeHost(data)); }
  bool operator==(const pinned_allocator&) const { return true; }
};

/// A vector in pinned memory, which the host and kernels access. Begins at a multiple of 4,096 bytes; a kernel's access
/// beyond the capacity is a violation.
template <class T> using device_vector = std::vector<T, pinned_allocator<T>>;

/// Executes kernels in random order, or another one, while the object lives.
class random_order {
 public:
  explicit random_order(unsigned seed, software_gpu::execution_order order = software_gpu::execution_order::random)
      : before_(gpu_of_kernels().options) {
    gpu_of_kernels().options.order = order;
    gpu_of_kernels().options.seed = seed;
  }
  random_order(const random_order&) = delete;
  random_order& operator=(const random_order&) = delete;
  ~random_order() { gpu_of_kernels().options = before_; }

 private:
  software_gpu::settings before_;
};

/// Runs `kernel` in `blocks` blocks on device 0 and waits for it. Throws an exception with the violations that the GPU
/// in software reports. Returns how many bytes the threads read from global memory.
template <class Kernel>
std::size_t run_kernel(std::size_t blocks, const Kernel& kernel, unsigned seed = 1,
                       software_gpu::execution_order order = software_gpu::execution_order::random) {
  const random_order in_order(seed, order);
  const std::size_t known = violations_of_kernels().size();
  const detail::cuda_scope device(0);
  detail::kernel_launch{0}(blocks, kernel);
  const cudaError_t code = cudaStreamSynchronize(device.stream());
  std::string problems;
  for (std::size_t k = known; k < violations_of_kernels().size(); ++k) problems += violations_of_kernels()[k] + '\n';
  if (code != cudaSuccess || !problems.empty())
    throw std::runtime_error(problems.empty() ? cudaGetErrorName(code) : problems);
  UNSCOPED_INFO("random order of execution, seed " << seed);
  return gpu_of_kernels().last_launch().global_read_bytes;
}

/// Runs a functor of rows with the kernel that a GPU would use, in fewer blocks than rows require.
template <class Row> std::size_t run_rows(std::size_t rows, std::size_t columns, const Row& row) {
  std::size_t bytes_read = 0;
  detail::with_kernel(rows, detail::row_functor<Row>{row, columns},
                      [&](std::size_t, const auto& kernel) { bytes_read = run_kernel(2, kernel); });
  return bytes_read;
}

/// Runs a reduction with the kernel that a GPU would use, in at most `most` blocks. `Along`: as in with_reduce_kernel.
template <bool Along, class Source, class Reducer>
void run_reduction(const detail::reduction_plan<Source, Reducer>& plan, unsigned seed = 1, std::size_t most = 7) {
  detail::with_reduce_kernel<Along>(plan, [&](auto kernel) {
    using accumulator = typename decltype(kernel)::accumulator;
    const std::size_t blocks = kernel.layout.blocks(), partial = blocks * detail::most_block_columns;
    device_vector<unsigned> tickets(blocks);
    device_vector<std::uint64_t> partials(partial * sizeof(accumulator) / 8 + 1, ~std::uint64_t{0});  // NaN
    kernel.tickets = tickets.data();
    kernel.partials = reinterpret_cast<accumulator*>(partials.data());
    run_kernel(std::min(most, blocks), kernel, seed);
    if (tickets != device_vector<unsigned>(blocks))
      throw std::runtime_error("the next launch would begin with tickets");
  });
}
template <class Source, class Reducer>
void run_reduction(const detail::reduction_plan<Source, Reducer>& plan, unsigned seed = 1, std::size_t most = 7) {
  if (plan.inner == 1)
    run_reduction<true>(plan, seed, most);
  else
    run_reduction<false>(plan, seed, most);
}

/// Row lengths on both sides of every kernel's limits and of every access width.
inline constexpr std::array<std::size_t, 13> row_lengths{1, 2, 5, 10, 16, 17, 32, 100, 128, 129, 1024, 1501, 9000};

/// Returns reproducible numbers between -8 and 8.
inline device_vector<float> logits(std::size_t count, std::uint32_t seed = 1) {
  device_vector<float> result(count);
  std::uint32_t state = seed * 2654435761u + 1;
  for (float& x : result) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(state >> 8) / static_cast<float>(1 << 20) - 8;
  }
  return result;
}

}  // namespace devplace::test::mock_cuda
