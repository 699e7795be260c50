// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include <devplace/backend/cuda/memory.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/block.hpp>

namespace devplace::detail {

/// Bytes that each stream has for intermediate results: what NVIDIA recommends for cuBLAS on Hopper.
inline constexpr std::size_t cuda_workspace_bytes = std::size_t{32} << 20;

/// The workspace of the stream of `scope`, from the pool of the place `ordinal`; taken at the stream's first use and
/// aligned to 256 bytes. Each stream has one of its own, as two operations side by side must not share one; within a
/// stream each operation may overwrite it. It stays until the process ends: CUDA may end before static objects do.
inline void* cuda_workspace(int ordinal, const cuda_scope& scope) {
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
      implementation<backend::cuda, op::memory>::allocate(ordinal, cuda_workspace_bytes, memory_purpose::workspace);
  return mine.blocks.emplace(scope.stream(), std::move(block)).first->second.data();
}

}  // namespace devplace::detail
