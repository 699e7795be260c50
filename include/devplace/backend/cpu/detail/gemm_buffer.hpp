// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <new>

#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/memory/statistics.hpp>

namespace devplace::detail {

/// A thread's memory for packed blocks, of one size for all products: allocated at the thread's first product (or by
/// gemm_prepare) and freed at its end.
class gemm_buffer {
 public:
  gemm_buffer() : memory_(::operator new (gemm_buffer_bytes, std::align_val_t{64})) {
    count_allocation(gemm_buffer_bytes, memory_purpose::workspace);
  }
  gemm_buffer(const gemm_buffer&) = delete;
  gemm_buffer& operator=(const gemm_buffer&) = delete;
  ~gemm_buffer() {
    ::operator delete (memory_, std::align_val_t{64});
    count_release(gemm_buffer_bytes, memory_purpose::workspace);
  }

  static void* of_this_thread() {
    thread_local const gemm_buffer buffer;
    return buffer.memory_;
  }

 private:
  void* memory_;
};

}  // namespace devplace::detail
