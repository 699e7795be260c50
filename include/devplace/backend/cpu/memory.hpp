// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/host_copies.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>

namespace devplace {

/// Ordinary host memory, aligned to `detail::alignment`. Blocks of several huge pages begin at a huge page and use huge
/// pages if the system offers them: 512 times fewer page faults, and fewer TLB misses.
template <> struct implementation<backend::cpu, op::memory> : detail::host_copies {
  static detail::memory_block allocate(int, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
    void* data = ::operator new(bytes, alignment_of(bytes), std::nothrow);
    if (data == nullptr)
      throw out_of_memory(detail::out_of_memory_text({"cpu", bytes, memory_statistics<cpu>(), {}, {}}));
    // If the system refuses, pages stay ordinary. The memory after the last whole huge page shares ordinary pages with
    // other blocks.
    if (is_large(bytes)) static_cast<void>(::madvise(data, bytes / huge_page * huge_page, MADV_HUGEPAGE));
    detail::count_allocation(bytes, purpose);
    return detail::memory_block({data, bytes, 0, purpose, &release});
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20U;

  static constexpr bool is_large(std::size_t bytes) { return bytes >= 2 * huge_page; }
  static constexpr std::align_val_t alignment_of(std::size_t bytes) {
    return std::align_val_t{is_large(bytes) ? huge_page : detail::alignment};
  }
  static void release(const detail::block_record& block) noexcept {
    ::operator delete(block.data, alignment_of(block.bytes));
    detail::count_release(block.bytes, block.purpose);
  }
};

}  // namespace devplace
