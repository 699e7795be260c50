// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>
#include <map>
#include <mutex>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

namespace devplace::detail {

/// Memory that only simulated devices may access. It lies in one reserved address range, which is accessible while a
/// device works and protected while none does: a host that dereferences a pointer into it after synchronising gets a
/// segmentation fault, as with a GPU. Thread-safe.
class simulated_guard {
 public:
  /// Reserved address space; pages are allocated when they are written.
  static constexpr std::size_t region_bytes = std::size_t{1} << 40;

  static simulated_guard& of_process() {
    static simulated_guard& guard = *new simulated_guard;
    return guard;
  }

  /// `bytes` must be a multiple of the alignment. Returns null if the system cannot reserve such a range, or it is
  /// full: the caller then uses ordinary memory.
  void* allocate(std::size_t bytes) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      if (!reserved() || bytes > region_bytes / 2) return nullptr;
      const std::size_t pages = (bytes + page_ - 1) / page_ * page_;
      const std::size_t begin = take(pages);
      if (begin == no_range) return nullptr;
      try {
        blocks_.emplace(begin, pages);
      } catch (...) {
        give(begin, pages);
        throw;
      }
      // Ordering: a device that starts to work sees in_use_ and opens the region, or its working_ is seen here.
      in_use_.store(true);
      if (open_)
        static_cast<void>(::mprotect(region_ + begin, pages, PROT_READ | PROT_WRITE));
      else if (working_.load() != 0)
        open();
      return region_ + begin + pages - bytes;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  void release(void* data) noexcept {
    const std::lock_guard lock(mutex_);
    const auto block = --blocks_.upper_bound(static_cast<std::size_t>(static_cast<std::byte*>(data) - region_));
    const auto [begin, pages] = *block;
    static_cast<void>(::madvise(region_ + begin, pages, MADV_DONTNEED));
    blocks_.erase(block);
    try {
      give(begin, pages);
    } catch (const std::bad_alloc&) {  // this address range is not reused
    }
  }

  void enter() noexcept {
    working_.fetch_add(1);
    if (!in_use_.load()) return;
    const std::lock_guard lock(mutex_);
    if (!open_) open();
  }

  void leave() noexcept {
    if (working_.fetch_sub(1) != 1 || !in_use_.load()) return;
    const std::lock_guard lock(mutex_);
    if (open_ && working_.load() == 0) close();
  }

 private:
  static constexpr std::size_t no_range = ~std::size_t{0};

  bool reserved() {
    if (!tried_) {
      tried_ = true;
      void* at = ::mmap(nullptr, region_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at != MAP_FAILED) region_ = static_cast<std::byte*>(at);
      page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    }
    return region_ != nullptr;
  }

  /// First fit among the freed ranges, otherwise after the highest range used so far.
  std::size_t take(std::size_t bytes) {
    for (auto range = free_.begin(); range != free_.end(); ++range) {
      const auto [begin, size] = *range;
      if (size < bytes) continue;
      if (size > bytes) free_.emplace(begin + bytes, size - bytes);
      free_.erase(begin);
      return begin;
    }
    if (bytes > region_bytes - top_) return no_range;
    top_ += bytes;
    return top_ - bytes;
  }

  void give(std::size_t begin, std::size_t bytes) {
    auto range = free_.emplace(begin, bytes).first;
    if (const auto next = std::next(range); next != free_.end() && begin + range->second == next->first) {
      range->second += next->second;
      free_.erase(next);
    }
    if (range == free_.begin()) return;
    const auto previous = std::prev(range);
    if (previous->first + previous->second != begin) return;
    previous->second += range->second;
    free_.erase(range);
  }

  void open() noexcept {
    if (top_ != 0) static_cast<void>(::mprotect(region_, top_, PROT_READ | PROT_WRITE));
    open_ = true;
  }

  void close() noexcept {
    if (top_ != 0) static_cast<void>(::mprotect(region_, top_, PROT_NONE));
    open_ = false;
  }

  std::atomic<int> working_{0};                // number of working devices
  std::atomic<bool> in_use_{false};            // whether there has ever been a block
  std::mutex mutex_;                           // guards the members below
  std::map<std::size_t, std::size_t> blocks_;  // offset and size in bytes, in whole pages
  std::map<std::size_t, std::size_t> free_;    // freed ranges
  std::byte* region_ = nullptr;
  std::size_t page_ = 0;
  std::size_t top_ = 0;
  bool tried_ = false;
  bool open_ = false;
};

/// Called when a simulated device starts to work: makes the devices' memory accessible until it leaves.
inline void simulated_guard_enter() noexcept {
  simulated_guard::of_process().enter();
}

/// Called when a simulated device becomes idle, before anyone can see that.
inline void simulated_guard_leave() noexcept {
  simulated_guard::of_process().leave();
}

}  // namespace devplace::detail
