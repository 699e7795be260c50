// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>

namespace devplace {

/// Ordinary host memory, aligned to `detail::alignment`. Blocks of several huge pages use huge pages if the system
/// offers them: 512 times fewer page faults, and fewer TLB misses. Such blocks begin at different distances from the
/// begin of a huge page, because elements at equal distances share sets of the caches: an operation on six arrays takes
/// a tenth longer if all begin at a huge page.
template <> struct implementation<backend::cpu, op::memory> : detail::host_copies {
  static detail::memory_block allocate(int, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
    const bool large = is_large(bytes);
    // When an aligned allocation of this size is freed, glibc returns it to the system, which has to clear pages for
    // the next one. It keeps other allocations of up to 32 MiB, so large blocks are aligned here.
    void* const begin = large ? ::operator new(huge_page + steps * step + bytes, std::nothrow)
                              : ::operator new(bytes, std::align_val_t{detail::alignment}, std::nothrow);
    if (begin == nullptr)
      throw out_of_memory(detail::out_of_memory_text({"cpu", bytes, memory_statistics<cpu>(), {}, {}}));
    auto* data = static_cast<std::byte*>(begin);
    if (large) {
      data += huge_page - reinterpret_cast<std::uintptr_t>(data) % huge_page;
      // If the system refuses, pages stay ordinary. The memory after the last whole huge page shares ordinary pages
      // with other blocks.
      const std::size_t offset = next_offset();
      static_cast<void>(::madvise(data, (offset + bytes) / huge_page * huge_page, MADV_HUGEPAGE));
      data += offset;
      ::new (data - sizeof begin) void*(begin);
    }
    detail::count_allocation(detail::counters(backend::cpu{}, 0), bytes, purpose);
    return detail::memory_block({data, bytes, 0, purpose, &release});
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20U;
  static constexpr std::size_t most = ~std::size_t{0} / 2;  // operator new refuses more

  static constexpr std::size_t step = 11 * 64, steps = 16;

  /// Returns a number of bytes between the huge page's begin and the block; the last of them hold the pointer to free.
  static std::size_t next_offset() {
    static std::atomic<unsigned> number{0};
    return (number.fetch_add(1, std::memory_order_relaxed) % steps + 1) * step;
  }
  static bool is_large(std::size_t bytes) { return bytes >= 2 * huge_page && bytes <= most; }
  static void release(const detail::block_record& block) noexcept {
    if (is_large(block.bytes))
      ::operator delete(*(static_cast<void**>(block.data) - 1));
    else
      ::operator delete(block.data, std::align_val_t{detail::alignment});
    detail::count_release(detail::counters(backend::cpu{}, 0), block.bytes, block.purpose);
  }
};

}  // namespace devplace
