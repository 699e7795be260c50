// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/host_memory.hpp>

namespace devplace::detail {

/// Memory that only simulated devices may access. It lies in one reserved address range, which is accessible while any
/// device works and protected otherwise. Host code that dereferences a pointer into this memory after synchronising
/// gets a segmentation fault, as with a GPU. Thread-safe.
class simulated_guard {
 public:
  /// Reserved address space; pages are allocated when they are written.
  static constexpr std::size_t region_bytes = std::size_t{1} << 40;

  static simulated_guard& of_process() {
    static undestroyed<simulated_guard> guard;
    return guard.value;
  }

  /// Allocates `bytes`, a multiple of the alignment. Returns null if the system cannot reserve the address range or the
  /// range is full: the caller then uses ordinary memory.
  void* allocate(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (!reserved() || bytes > region_bytes / 2) return nullptr;
    const std::size_t pages = in_pages(bytes);
    std::byte* begin = region_ + top_;
    if (const auto freed = free_.find(pages); freed != free_.end()) {
      begin = freed->second;
      free_.erase(freed);
    } else if (pages > region_bytes - top_) {
      return nullptr;
    } else {
      top_ += pages;
    }
    // Either a device that starts to work concurrently sees in_use_ and opens the region, or this thread sees working_.
    in_use_.store(true);
    if (open_ || working_.load() != 0) protect(true);
    return begin + pages - bytes;
  }

  /// Returns whether `allocate` returned this address.
  bool contains(const void* data) const noexcept {
    const std::lock_guard lock(mutex_);
    return region_ != nullptr && data >= region_ && data < region_ + top_;
  }

  /// Frees `data`, which allocate() returned for `bytes`. Blocks of equally many pages reuse the address range. The
  /// system gets back whole huge pages alone, because it divides a page of which it gets a part.
  void release(void* data, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    const std::size_t pages = in_pages(bytes);
    std::byte* const begin = static_cast<std::byte*>(data) + bytes - pages;
    const auto at = static_cast<std::size_t>(begin - region_);
    const std::size_t first = padded_to(at, huge_page), last = (at + pages) / huge_page * huge_page;
    if (first < last) static_cast<void>(::madvise(region_ + first, last - first, MADV_DONTNEED));
    try {
      free_.emplace(pages, begin);
    } catch (const std::bad_alloc&) {  // this address range is not reused
    }
  }

  /// Makes the memory accessible until leave(); called when a simulated device starts to work.
  void enter() noexcept {
    working_.fetch_add(1);
    if (!in_use_.load()) return;
    const std::lock_guard lock(mutex_);
    if (!open_) protect(true);
  }

  /// Ends the access that enter() began. Called when a device becomes idle, before other threads see it idle.
  void leave() noexcept {
    if (working_.fetch_sub(1) != 1 || !in_use_.load()) return;
    const std::lock_guard lock(mutex_);
    if (open_ && working_.load() == 0) protect(false);
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  bool reserved() {
    if (!tried_) {
      tried_ = true;
      void* const at =
          ::mmap(nullptr, region_bytes + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at != MAP_FAILED) {
        region_ = static_cast<std::byte*>(at);
        region_ += padded_to(reinterpret_cast<std::uintptr_t>(at), huge_page) - reinterpret_cast<std::uintptr_t>(at);
        // The kernel protects huge pages much faster than as many small ones.
        static_cast<void>(::madvise(region_, region_bytes, MADV_HUGEPAGE));
      }
      page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    }
    return region_ != nullptr;
  }

  std::size_t in_pages(std::size_t bytes) const { return padded_to(bytes, page_); }

  /// Makes the memory accessible (`open`) or protects it. Whole huge pages, because the kernel divides a page of which
  /// it protects a part.
  void protect(bool open) noexcept {
    if (top_ != 0)
      static_cast<void>(::mprotect(region_, padded_to(top_, huge_page), open ? PROT_READ | PROT_WRITE : PROT_NONE));
    open_ = open;
  }

  std::atomic<int> working_{0};                  // number of working devices
  std::atomic<bool> in_use_{false};              // true once a block was allocated
  mutable std::mutex mutex_;                     // guards the members below
  std::multimap<std::size_t, std::byte*> free_;  // freed ranges by their size, in whole pages
  std::byte* region_ = nullptr;
  std::size_t page_ = 0;
  std::size_t top_ = 0;
  bool tried_ = false;
  bool open_ = false;
};

}  // namespace devplace::detail
