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
    const std::size_t offset = is_large(bytes) && bytes <= most ? next_offset() : 0;
    void* const begin = ::operator new(bytes + offset, alignment_of(bytes), std::nothrow);
    if (begin == nullptr)
      throw out_of_memory(detail::out_of_memory_text({"cpu", bytes, memory_statistics<cpu>(), {}, {}}));
    // If the system refuses, pages stay ordinary. The memory after the last whole huge page shares ordinary pages with
    // other blocks.
    if (is_large(bytes)) static_cast<void>(::madvise(begin, (bytes + offset) / huge_page * huge_page, MADV_HUGEPAGE));
    detail::count_allocation(detail::counters(backend::cpu{}, 0), bytes, purpose);
    return detail::memory_block({static_cast<std::byte*>(begin) + offset, bytes, 0, purpose, &release});
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20U;
  static constexpr std::size_t most = ~std::size_t{0} / 2;  // operator new refuses more

  static constexpr bool is_large(std::size_t bytes) { return bytes >= 2 * huge_page; }
  static constexpr std::align_val_t alignment_of(std::size_t bytes) {
    return std::align_val_t{is_large(bytes) ? huge_page : detail::alignment};
  }
  static std::size_t next_offset() {
    static std::atomic<unsigned> number{0};
    constexpr std::size_t step = 11 * 64, steps = 16;
    return number.fetch_add(1, std::memory_order_relaxed) % steps * step;
  }
  static void release(const detail::block_record& block) noexcept {
    auto* const data = static_cast<std::byte*>(block.data);
    const std::size_t offset = is_large(block.bytes) ? reinterpret_cast<std::uintptr_t>(data) % huge_page : 0;
    ::operator delete(data - offset, alignment_of(block.bytes));
    detail::count_release(detail::counters(backend::cpu{}, 0), block.bytes, block.purpose);
  }
};

}  // namespace devplace
