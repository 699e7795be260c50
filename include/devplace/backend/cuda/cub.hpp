// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include <devplace/backend/cuda/memory.hpp>
#include <devplace/backend/cuda/queue.hpp>

namespace devplace::detail {

/// Runs an algorithm of CUB on the stream of `device`, with temporary memory from the place's pool. `call(memory,
/// bytes)` calls CUB; with a null pointer, CUB only returns the size. Clears CUDA's record of an earlier error before
/// each call: CUB returns the record as an error of its own, and keeps a failed device count until the process ends.
template <class Call> void run_cub(const cuda_scope& device, int ordinal, const char* name, const Call& call) {
  const auto checked_call = [&](void* memory, std::size_t& bytes) {
    static_cast<void>(cudaGetLastError());
    check_cuda(call(memory, bytes), name, ordinal);
  };
  std::size_t bytes = 0;
  checked_call(nullptr, bytes);
  const memory_block temporary = allocate<backend::cuda>(ordinal, bytes == 0 ? 1 : bytes, memory_purpose::workspace);
  checked_call(temporary.data(), bytes);
  device.after_launch(name);
}

}  // namespace devplace::detail
