// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include <devplace/backend/cuda/kernels/reduction_layout.hpp>
#include <devplace/backend/cuda/memory.hpp>
#include <devplace/backend/cuda/queue.hpp>

namespace devplace::detail {

/// What the blocks of a reduction leave for the last one: tickets, 0 between launches, and behind them accumulators of
/// at most 16 bytes.
inline constexpr std::size_t cuda_ticket_bytes = most_partial_blocks * sizeof(unsigned);
inline constexpr std::size_t cuda_scratch_bytes = cuda_ticket_bytes + most_partial_blocks * most_block_columns * 16;

/// The scratch memory of the place `ordinal` for kernels on the stream that its work goes to now: those of one stream
/// follow each other, so that one is enough, and those of two streams run side by side, so that each has its own. It is
/// made at first use, counted as workspace, and kept until the process ends, as streams are.
inline void* cuda_scratch_of(int ordinal) {
  struct entry {
    cudaStream_t stream;
    memory_block block;
    const entry* next;
  };
  struct slot {
    std::mutex mutex;
    std::atomic<const entry*> first{nullptr};
    void* find(cudaStream_t stream) const {
      for (const entry* e = first.load(std::memory_order_acquire); e != nullptr; e = e->next)
        if (e->stream == stream) return e->block.data();
      return nullptr;
    }
  };
  static auto& slots = *new std::array<slot, counted_ordinals>;
  const cuda_scope device(ordinal);
  slot& mine = slots[static_cast<std::size_t>(ordinal)];
  void* data = mine.find(device.stream());
  if (data == nullptr) [[unlikely]] {
    const std::lock_guard lock(mine.mutex);
    data = mine.find(device.stream());
    if (data == nullptr) {
      memory_block block =
          implementation<backend::cuda, op::memory>::allocate(ordinal, cuda_scratch_bytes, memory_purpose::workspace);
      data = block.data();
      check_cuda(cudaMemsetAsync(data, 0, cuda_ticket_bytes, device.stream()), "cudaMemsetAsync", ordinal);
      mine.first.store(new entry{device.stream(), std::move(block), mine.first.load(std::memory_order_relaxed)},
                       std::memory_order_release);
    }
  }
  return data;
}

}  // namespace devplace::detail
