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

/// The scratch memory of the place `ordinal` for kernels on its stream, which follow each other, so that one is enough.
/// It is made at first use, counted as workspace, and kept until the process ends, as the place's queue is.
inline void* cuda_scratch_of(int ordinal) {
  struct slot {
    std::mutex mutex;
    std::atomic<void*> data{nullptr};
    memory_block block;
  };
  static auto& slots = *new std::array<slot, counted_ordinals>;
  slot& mine = slots[static_cast<std::size_t>(ordinal)];
  void* data = mine.data.load(std::memory_order_acquire);
  if (data == nullptr) [[unlikely]] {
    const std::lock_guard lock(mine.mutex);
    data = mine.data.load(std::memory_order_relaxed);
    if (data == nullptr) {
      const cuda_scope device(ordinal);
      memory_block block =
          implementation<backend::cuda, op::memory>::allocate(ordinal, cuda_scratch_bytes, memory_purpose::workspace);
      check_cuda(cudaMemsetAsync(block.data(), 0, cuda_ticket_bytes, device.stream()), "cudaMemsetAsync", ordinal);
      data = block.data();
      mine.block = std::move(block);
      mine.data.store(data, std::memory_order_release);
    }
  }
  return data;
}

}  // namespace devplace::detail
