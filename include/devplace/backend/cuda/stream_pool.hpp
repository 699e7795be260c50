// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

#include <devplace/backend/cuda/runtime.hpp>
#include <devplace/place/device_map.hpp>

namespace devplace::detail {

/// The streams of one cuda place besides its own. One that is given back waits for its next owner and is never
/// destroyed: memory that was allocated on it may go back in its order later, and CUDA may end before static objects
/// do. Any thread may call.
class cuda_stream_pool {
 public:
  static cuda_stream_pool& of(int ordinal) {
    static auto& pools = *new std::array<cuda_stream_pool, counted_ordinals>;
    return pools[static_cast<std::size_t>(ordinal)];
  }

  /// A stream of the place, whose device is the current one. Work of an earlier owner may still be ahead in it.
  cudaStream_t take(int ordinal) {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      const cudaStream_t stream = idle_.back();
      idle_.pop_back();
      return stream;
    }
    made_.reserve(made_.size() + 1);
    idle_.reserve(made_.size() + 1);  // so that give() needs no memory
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", ordinal);
    made_.push_back(stream);
    return stream;
  }

  void give(cudaStream_t stream) noexcept {
    const std::lock_guard lock(mutex_);
    idle_.push_back(stream);
  }

  /// The `index`-th of them, with or without an owner; null behind the last. What was made stays.
  cudaStream_t made(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    return index < made_.size() ? made_[index] : nullptr;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<cudaStream_t> made_;
  std::vector<cudaStream_t> idle_;
};

}  // namespace devplace::detail
