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

/// The additional streams of one cuda place. Reuses returned streams and never destroys them: memory allocated on a
/// stream may later be freed in the stream's order, and CUDA may shut down before static objects are destroyed.
/// Thread-safe.
class cuda_stream_pool {
 public:
  static cuda_stream_pool& on_device(int ordinal) {
    static auto& pools = *new std::array<cuda_stream_pool, counted_ordinals>;
    return pools[static_cast<std::size_t>(ordinal)];
  }

  /// Takes a stream of the place, whose device is the current one. Work of a previous owner may still be pending on it.
  cudaStream_t take(int ordinal) {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      const cudaStream_t stream = idle_.back();
      idle_.pop_back();
      return stream;
    }
    created_.reserve(created_.size() + 1);
    idle_.reserve(created_.size() + 1);  // so that give() does not allocate
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", ordinal);
    created_.push_back(stream);
    return stream;
  }

  void give(cudaStream_t stream) noexcept {
    const std::lock_guard lock(mutex_);
    idle_.push_back(stream);
  }

  /// Returns the `index`-th stream created so far, with or without an owner; null past the last.
  cudaStream_t created(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    return index < created_.size() ? created_[index] : nullptr;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<cudaStream_t> created_;
  std::vector<cudaStream_t> idle_;
};

}  // namespace devplace::detail
