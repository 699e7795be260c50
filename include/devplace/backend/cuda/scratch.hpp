// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <map>
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

/// The scratch memory of the place `ordinal` for kernels on the thread's current stream, which follow each other, so
/// that one is enough; kernels of other streams run beside them and have others. It is made at the stream's first use,
/// counted as workspace, and kept until the process ends, as streams are.
inline void* cuda_scratch_of(int ordinal) {
  struct of_place {
    std::mutex mutex;
    std::map<cudaStream_t, memory_block> blocks;
  };
  static auto& places = *new std::array<of_place, counted_ordinals>;
  const cuda_scope device(ordinal);
  of_place& mine = places[static_cast<std::size_t>(ordinal)];
  const std::lock_guard lock(mine.mutex);
  const auto found = mine.blocks.find(device.stream());
  if (found != mine.blocks.end()) return found->second.data();
  memory_block block =
      implementation<backend::cuda, op::memory>::allocate(ordinal, cuda_scratch_bytes, memory_purpose::workspace);
  check_cuda(cudaMemsetAsync(block.data(), 0, cuda_ticket_bytes, device.stream()), "cudaMemsetAsync", ordinal);
  return mine.blocks.emplace(device.stream(), std::move(block)).first->second.data();
}

}  // namespace devplace::detail
