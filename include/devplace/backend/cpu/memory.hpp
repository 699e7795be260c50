// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <new>

#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/host_copies.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>

namespace devplace {

/// Ordinary host memory, aligned to `detail::alignment`.
template <>
struct implementation<backend::cpu, op::memory> : detail::host_copies {
  static detail::memory_block allocate(int, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
    void* data = ::operator new (bytes, std::align_val_t{detail::alignment}, std::nothrow);
    if (data == nullptr)
      throw out_of_memory(detail::out_of_memory_text({"cpu", bytes, memory_statistics<cpu>(), {}, {}}));
    detail::count_allocation(bytes, purpose);
    return detail::memory_block({data, bytes, 0, purpose, &release});
  }

 private:
  static void release(const detail::block_record& block) noexcept {
    ::operator delete (block.data, std::align_val_t{detail::alignment});
    detail::count_release(block.bytes, block.purpose);
  }
};

}  // namespace devplace
