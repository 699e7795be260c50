// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <list>
#include <mutex>
#include <utility>

#include <devplace/backend/cuda/kernels/reduction_layout.hpp>
#include <devplace/backend/cuda/memory.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/block.hpp>

namespace devplace::detail {

/// Workspace for products and their gradients, of the size that NVIDIA recommends for cuBLAS on Hopper.
struct cuda_product_workspace {
  static constexpr std::size_t bytes = std::size_t{32} << 20;
};

/// The memory of partial_results: tickets (counters of finished blocks), followed by values of at most 16 bytes.
struct cuda_reduction_workspace {
  static constexpr std::size_t ticket_bytes = most_partial_blocks * sizeof(unsigned);
  static constexpr std::size_t value_bytes = most_partial_blocks * most_block_columns * 16;
  static constexpr std::size_t bytes = ticket_bytes + value_bytes;
  static constexpr std::size_t zeroed = ticket_bytes;
};

/// The workspaces of one kind of a place.
class cuda_workspaces {
 public:
  void* of_stream(int ordinal, const cuda_scope& scope, std::size_t bytes, std::size_t zeroed) {
    std::unique_lock lock(mutex_);
    if (void* const known = find(scope.stream_id())) return known;
    lock.unlock();
    // launch_collected() takes the places' locks. A thread that holds them may wait for mutex_, so mutex_ is unlocked.
    launch_collected();
    lock.lock();
    if (void* const known = find(scope.stream_id())) return known;
    memory_block block = implementation<backend::cuda, op::memory>::allocate(ordinal, bytes, memory_purpose::workspace);
    if (zeroed != 0) check_cuda(cudaMemsetAsync(block.data(), 0, zeroed, scope.stream()), "cudaMemsetAsync", ordinal);
    return blocks_.emplace_front(scope.stream_id(), std::move(block)).second.data();
  }

 private:
  void* find(cudaStream_t of) const {
    for (const auto& [stream, block] : blocks_)
      if (stream == of) return block.data();
    return nullptr;
  }

  std::mutex mutex_;
  std::list<std::pair<cudaStream_t, memory_block>> blocks_;
};

/// Returns the workspace of kind `Use` of the stream of `scope`. It is allocated from the pool of the place `ordinal`
/// at the stream's first use and aligned to 256 bytes; its first `Use::zeroed` bytes, if any, are zero. Each stream has
/// its own workspace, because operations on two streams may run concurrently; operations on one stream overwrite the
/// workspace in turn. An operation of several kernels must keep other threads from enqueueing kernels between them
/// (operation_lock). Never freed, because CUDA may shut down before static objects are destroyed.
template <class Use> void* cuda_workspace(int ordinal, const cuda_scope& scope) {
  struct of_use : cuda_workspaces {};
  std::size_t zeroed = 0;
  if constexpr (requires { Use::zeroed; }) zeroed = Use::zeroed;
  return of_place<of_use>(ordinal).of_stream(ordinal, scope, Use::bytes, zeroed);
}

inline char* cuda_reduction_memory(int ordinal) {
  return static_cast<char*>(cuda_workspace<cuda_reduction_workspace>(ordinal, cuda_scope(ordinal)));
}

template <class T> partial_results<T> cuda_partial_results(int ordinal) {
  static_assert(sizeof(T) <= 16 && alignof(T) <= 16);
  char* const tickets = cuda_reduction_memory(ordinal);
  return {reinterpret_cast<T*>(tickets + cuda_reduction_workspace::ticket_bytes), reinterpret_cast<unsigned*>(tickets)};
}

}  // namespace devplace::detail
