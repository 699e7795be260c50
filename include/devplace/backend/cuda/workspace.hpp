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
#include <devplace/memory/block.hpp>

namespace devplace::detail {

/// Where products and their gradients put intermediate results: what NVIDIA recommends for cuBLAS on Hopper.
struct cuda_product_workspace {
  static constexpr std::size_t bytes = std::size_t{32} << 20;
  static constexpr std::size_t zeroed = 0;
};

/// What the blocks of a reduction leave for the last one: tickets, 0 between launches, and behind them accumulators of
/// at most 16 bytes.
struct cuda_reduction_workspace {
  static constexpr std::size_t ticket_bytes = most_partial_blocks * sizeof(unsigned);
  static constexpr std::size_t bytes = ticket_bytes + most_partial_blocks * most_block_columns * 16;
  static constexpr std::size_t zeroed = ticket_bytes;
};

/// The workspace of one kind, `Use`, that the stream of `scope` has, from the pool of the place `ordinal`; taken at the
/// stream's first use and aligned to 256 bytes, with `Use::zeroed` bytes of zeros at its start. Each stream has one of
/// its own, as two operations side by side must not share one; within a stream each operation may overwrite it. One of
/// several kernels has to keep other threads' kernels from between them (product_cache). It stays until the process
/// ends: CUDA may end before static objects do.
template <class Use>
void* cuda_workspace(int ordinal, const cuda_scope& scope) {
  struct of_place {
    std::mutex mutex;
    std::map<cudaStream_t, memory_block> blocks;
  };
  static auto& places = *new std::array<of_place, counted_ordinals>;
  of_place& mine = places[static_cast<std::size_t>(ordinal)];
  const std::lock_guard lock(mine.mutex);
  const auto found = mine.blocks.find(scope.stream());
  if (found != mine.blocks.end()) return found->second.data();
  memory_block block =
      implementation<backend::cuda, op::memory>::allocate(ordinal, Use::bytes, memory_purpose::workspace);
  if constexpr (Use::zeroed != 0)
    check_cuda(cudaMemsetAsync(block.data(), 0, Use::zeroed, scope.stream()), "cudaMemsetAsync", ordinal);
  return mine.blocks.emplace(scope.stream(), std::move(block)).first->second.data();
}

}  // namespace devplace::detail
