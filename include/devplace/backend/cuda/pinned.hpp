// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/host_copies.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>

namespace devplace {

namespace detail {

/// Returns the place whose device's context holds pinned memory: the first one that is not lost and has a context
/// already; if none has a context, the first one that is not lost.
inline int ordinal_of_pinned_memory() {
  const int count = cuda_place_count("work or memory on a device");
  int usable = -1;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    if (cuda_device_lost(ordinal)) continue;
    if (has_cuda_context(cuda_visible_device(ordinal))) return ordinal;
    if (usable < 0) usable = ordinal;
  }
  return usable < 0 ? 0 : usable;
}

}  // namespace detail

/// Page-locked host memory, which every device of the process can read and write by DMA. CUDA allocates it in the
/// context of a device; using a device that has one avoids creating contexts on others. Allocation and release are
/// expensive: both may synchronise all devices.
template <> struct implementation<backend::pinned, op::memory> : detail::host_copies {
  static detail::memory_block allocate(int, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
    const int home = detail::ordinal_of_pinned_memory();
    const detail::cuda_device_guard device(home);
    void* data = nullptr;
    const cudaError_t code = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
    if (code == cudaErrorMemoryAllocation) throw_out_of_memory(code, bytes);
    detail::check_cuda(code, "cudaHostAlloc for pinned memory", home);
    detail::count_allocation(detail::counters(backend::pinned{}, 0), bytes, purpose);
    return detail::memory_block({data, bytes, home, purpose, &release});
  }

 private:
  [[noreturn]] static void throw_out_of_memory(cudaError_t code, std::size_t bytes) {
    static_cast<void>(cudaGetLastError());
    throw out_of_memory(detail::out_of_memory_text(
        {"pinned", bytes, memory_statistics<pinned>(),
         detail::joined({"the operating system cannot lock more pages of its memory (cudaHostAlloc: ",
                         detail::cuda_error_text(code), ")"}),
         "",
         "Use fewer or smaller pinned tensors, one staging tensor again and again, or on<cpu>, and see free -h and "
         "ulimit -l for what the system can lock"}));
  }

  /// Ignores errors, because at process exit CUDA may already have been shut down and the memory freed.
  static void release(const detail::block_record& block) noexcept {
    detail::count_release(detail::counters(backend::pinned{}, 0), block.bytes, block.purpose);
    if (detail::cuda_device_lost(block.ordinal)) return;
    const detail::quiet_cuda_device_guard device(detail::device_map::of_process().visible(block.ordinal));
    detail::ignore_cuda(cudaFreeHost(block.data));
  }
};

}  // namespace devplace
