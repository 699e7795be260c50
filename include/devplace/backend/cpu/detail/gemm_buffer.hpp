// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <new>
#include <utility>

#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/base/error.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>
#include <devplace/memory/statistics.hpp>

namespace devplace::detail {

/// A thread's memory for packed blocks, of one size for all products. Allocated at the thread's first product (or by
/// gemm_prepare) and freed when the thread ends. Products in destructors of objects with static storage duration run
/// after the memory was freed and allocate it anew. Throws out_of_memory.
class gemm_buffer {
 public:
  gemm_buffer& operator=(gemm_buffer&&) = delete;
  ~gemm_buffer() {
    ::operator delete(std::exchange(memory_, nullptr), std::align_val_t{64});
    count_release(counters(backend::cpu{}, 0), gemm_buffer_bytes, memory_purpose::workspace);
  }

  static void* of_this_thread() {
    if (memory_ == nullptr) {
      memory_ = ::operator new(gemm_buffer_bytes, std::align_val_t{64}, std::nothrow);
      if (memory_ == nullptr)
        throw out_of_memory(out_of_memory_text({"cpu", gemm_buffer_bytes, memory_statistics<cpu>(), {}, {}}));
      count_allocation(counters(backend::cpu{}, 0), gemm_buffer_bytes, memory_purpose::workspace);
      thread_local const gemm_buffer freed_at_end;
      static_cast<void>(freed_at_end);
    }
    return memory_;
  }

 private:
  gemm_buffer() = default;

  static inline constinit thread_local void* memory_ = nullptr;
};

}  // namespace devplace::detail
