// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include <devplace/backend/cuda/device_query.hpp>
#include <devplace/backend/cuda/memory.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/exported_memory.hpp>
#include <devplace/memory/detail/named_segment.hpp>

namespace devplace {

/// CUDA's interprocess handles of memory and of an event. The memory is allocated by cudaMalloc, because pool memory
/// has no such handles. Every process that has opened the memory holds a lock on the segment. The exporting process
/// frees the memory when no other process holds a lock, because freeing memory that is still open is undefined in CUDA.
template <> struct implementation<backend::cuda, op::ipc> {
  static std::string device(int ordinal) {
    const detail::cuda_device_guard guard(ordinal);
    cudaDeviceProp properties{};
    detail::check_cuda(cudaGetDeviceProperties(&properties, guard.visible()), "cudaGetDeviceProperties", ordinal);
    return detail::cuda_uuid_text(properties.uuid);
  }
  static std::size_t message_bytes(std::size_t) { return sizeof(message); }

  static detail::memory_block allocate(int ordinal, std::size_t bytes,
                                       const std::shared_ptr<detail::named_segment>& segment) {
    const detail::cuda_scope device(ordinal);
    auto owner = std::make_unique<owner_type>(owner_type{segment});
    void* data = nullptr;
    constexpr std::size_t page = std::size_t{2} << 20;  // CUDA shares whole pages, with unrelated memory on them
    const cudaError_t code = cudaMalloc(&data, detail::padded_to(std::max(bytes, std::size_t{1}), page));
    if (code == cudaErrorMemoryAllocation) detail::throw_cuda_out_of_memory(code, "cudaMalloc", ordinal, bytes);
    detail::check_cuda(code, "cudaMalloc", ordinal);
    detail::count_allocation(detail::counters(backend::cuda{}, ordinal), bytes);
    cudaEvent_t& written = owner->written;
    // Frees the memory if a call below fails.
    detail::memory_block block({data, bytes, ordinal, memory_purpose::tensors, &release<true>, owner.release()});
    auto& handles = *static_cast<message*>(segment->data());
    detail::check_cuda(cudaEventCreateWithFlags(&written, cudaEventDisableTiming | cudaEventInterprocess),
                       "cudaEventCreateWithFlags for other processes", ordinal);
    detail::check_cuda(cudaIpcGetMemHandle(&handles.memory, data), "cudaIpcGetMemHandle", ordinal);
    detail::check_cuda(cudaIpcGetEventHandle(&handles.written, written), "cudaIpcGetEventHandle", ordinal);
    return block;
  }

  static void record(int ordinal, const detail::memory_block& block) {
    const detail::cuda_scope device(ordinal);
    detail::check_cuda(cudaEventRecord(static_cast<const owner_type*>(block.owner())->written, device.stream()),
                       "cudaEventRecord", ordinal);
  }

  static detail::memory_block open(int ordinal, std::size_t bytes,
                                   const std::shared_ptr<detail::named_segment>& segment) {
    const detail::cuda_scope device(ordinal);
    const auto& handles = *static_cast<const message*>(segment->data());
    auto owner = std::make_unique<owner_type>(owner_type{segment});
    void* data = nullptr;
    detail::check_cuda(cudaIpcOpenMemHandle(&data, handles.memory, cudaIpcMemLazyEnablePeerAccess),
                       "cudaIpcOpenMemHandle", ordinal);
    // Closes the memory if a call below fails.
    detail::memory_block block({data, bytes, ordinal, memory_purpose::tensors, &release<false>, owner.release()});
    cudaEvent_t written = nullptr;
    detail::check_cuda(cudaIpcOpenEventHandle(&written, handles.written), "cudaIpcOpenEventHandle", ordinal);
    const cudaError_t waits = cudaStreamWaitEvent(device.stream(), written, 0);
    detail::ignore_cuda(cudaEventDestroy(written));
    detail::check_cuda(waits, "cudaStreamWaitEvent", ordinal);
    return block;
  }

 private:
  struct message {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t written;
  };
  struct owner_type {
    std::shared_ptr<detail::named_segment> segment;
    cudaEvent_t written = nullptr;  ///< of exported memory
  };

  /// Waits for the place's work on memory that is about to be unmapped, without errors, because CUDA may already have
  /// been shut down at process exit. A forked process has neither the memory nor a lock of its own, so its destructors
  /// leave the parent's memory alone.
  template <bool Exported> static void release(const detail::block_record& block) noexcept {
    const std::unique_ptr<owner_type> owner(static_cast<owner_type*>(block.owner));
    if (owner->segment->inherited()) return;
    if (Exported) detail::count_release(detail::counters(backend::cuda{}, block.ordinal), block.bytes, block.purpose);
    try {
      detail::cuda_scope(block.ordinal).wait_for_all_streams();
    } catch (...) {
    }
    if (Exported) owner->segment->wait_for_others();
    if (!detail::cuda_device_lost(block.ordinal)) {
      const detail::quiet_cuda_device_guard device(detail::device_map::of_process().visible(block.ordinal));
      if (owner->written != nullptr) detail::ignore_cuda(cudaEventDestroy(owner->written));
      detail::ignore_cuda(Exported ? cudaFree(block.data) : cudaIpcCloseMemHandle(block.data));
    }
    if (!Exported) owner->segment->unlock();
  }
};

}  // namespace devplace
