// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/backend/simulated/guard.hpp>
#include <devplace/backend/simulated/memory_limit.hpp>
#include <devplace/memory/detail/byte_text.hpp>
#include <devplace/memory/statistics.hpp>

// Functions of AddressSanitizer if it is linked, otherwise null.
extern "C" {
void __asan_poison_memory_region(const volatile void* begin, std::size_t bytes) __attribute__((weak));
void __asan_unpoison_memory_region(const volatile void* begin, std::size_t bytes) __attribute__((weak));
}

namespace devplace::detail {

/// The memory of the simulated devices. A freed block is cached by its logical device for the next request of the same
/// rounded size. A device executes its work in the order of the calls, so the previous owner's work on the block is
/// done before the next owner's; if another device uses a block, the program must order the two devices anyway. Cached
/// blocks are returned to the host in the order of their device's work. All logical devices on one physical device
/// share its limit, and a bound on the cache: the peak of what they had in use, plus kept_bytes.
class simulated_pool {
 public:
  /// Size and alignment unit of blocks.
  static constexpr std::size_t unit = 64;
  /// Bytes that may be cached in any case.
  static constexpr std::size_t kept_bytes = std::size_t{1} << 20;

  explicit simulated_pool(std::size_t limit) : limit_(limit) {}

  static simulated_pool& of_process() {
    static simulated_pool& pool = *new simulated_pool(simulated_memory_limit());
    return pool;
  }

  /// Memory for the logical device `ordinal` on the device `physical`; null if the limit is exceeded even after
  /// trimming the caches on that physical device, or if the host has not enough. `guarded`: inaccessible to the host.
  void* take(int ordinal, int physical, std::size_t bytes, bool guarded, memory_counters& counters) {
    if (bytes > unlimited_memory - unit) return nullptr;
    const std::size_t rounded = (bytes + unit - 1) / unit * unit;
    block* found = nullptr;
    block* dropped = nullptr;
    {
      const std::lock_guard lock(mutex_);
      block*& cached = cache_[index(ordinal)][{rounded, guarded}];
      if (cached != nullptr) {
        found = std::exchange(cached, cached->next);
        cached_[index(physical)] -= rounded;
        counters.idle.fetch_sub(bytes, std::memory_order_relaxed);
      } else {
        if (!fits(physical, rounded) || keeps_too_much(physical)) dropped = drop_all(physical);
        if (fits(physical, rounded)) found = reserve(ordinal, physical, rounded, guarded, &cached);
        if (found != nullptr) counters.idle.fetch_add(rounded - bytes, std::memory_order_relaxed);
      }
      std::size_t& most = most_in_use_[index(physical)];
      most = std::max(most, reserved_[index(physical)] - cached_[index(physical)]);
    }
    give_to_host(dropped);
    if (found == nullptr) return nullptr;
    forbid(found, bytes);
    return found->data;
  }

  /// Frees a block that take() returned for `bytes`.
  void give(void* data, std::size_t bytes, memory_counters& counters) noexcept {
    const std::lock_guard lock(mutex_);
    block* given = blocks_.find(data)->second.get();
    forbid(given, 0);
    given->next = std::exchange(*given->cache, given);
    cached_[index(given->physical)] += given->bytes;
    counters.idle.fetch_add(bytes, std::memory_order_relaxed);
  }

  /// Returns the cache of one logical device to the host; returns the number of bytes.
  std::size_t trim(int ordinal, memory_counters& counters) {
    block* dropped = nullptr;
    std::size_t bytes = 0;
    {
      const std::lock_guard lock(mutex_);
      bytes = drop(ordinal, dropped, counters);
    }
    give_to_host(dropped);
    return bytes;
  }

  bool limited() const { return limit_ != unlimited_memory; }

  /// Bytes of a physical device that are not in use, including caches.
  std::size_t obtainable(int physical) const {
    const std::lock_guard lock(mutex_);
    return limit_ - reserved_[index(physical)] + cached_[index(physical)];
  }

  /// The capacity of a physical device, for error messages.
  std::string limit_text(int physical) const {
    if (!limited()) return "it is the host's memory, without a limit from DEVPLACE_SIMULATED_MEMORY";
    return "physical device " + std::to_string(physical) + " has " + std::to_string(limit_) + " bytes (" +
           byte_text(limit_) + ", from the environment variable DEVPLACE_SIMULATED_MEMORY), " +
           byte_text(obtainable(physical)) + " of which are not in use by any place";
  }

 private:
  struct block {
    void* data;
    std::size_t bytes;
    int ordinal;
    int physical;
    bool guarded;
    block** cache;  // the cache list for this block's size
    block* next;    // next block in that list
  };

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }

  bool fits(int physical, std::size_t bytes) const {
    return bytes <= limit_ && reserved_[index(physical)] <= limit_ - bytes;
  }

  /// Programs with recurring sizes reuse the cache; programs with ever new sizes would fill it, hence the bound.
  bool keeps_too_much(int physical) const {
    return cached_[index(physical)] > most_in_use_[index(physical)] + kept_bytes;
  }

  /// A new block; null if the host has not enough memory.
  block* reserve(int ordinal, int physical, std::size_t bytes, bool guarded, block** cache) noexcept {
    void* data = guarded ? simulated_guard::of_process().allocate(bytes) : nullptr;
    guarded = data != nullptr;
    if (data == nullptr) data = ::operator new (bytes, std::align_val_t{unit}, std::nothrow);
    if (data == nullptr) return nullptr;
    try {
      auto made = std::make_unique<block>(block{data, bytes, ordinal, physical, guarded, cache, nullptr});
      block* const result = made.get();
      blocks_.emplace(data, std::move(made));
      reserved_[index(physical)] += bytes;
      return result;
    } catch (const std::bad_alloc&) {
      free_data(data, guarded);
      return nullptr;
    }
  }

  /// Moves the cache of one logical device to the list `dropped`.
  std::size_t drop(int ordinal, block*& dropped, memory_counters& counters) {
    std::size_t bytes = 0;
    for (auto& [size, cached] : cache_[index(ordinal)])
      while (cached != nullptr) {
        block* const taken = std::exchange(cached, cached->next);
        taken->next = std::exchange(dropped, taken);
        bytes += taken->bytes;
        cached_[index(taken->physical)] -= taken->bytes;
        reserved_[index(taken->physical)] -= taken->bytes;
        blocks_.find(taken->data)->second.release();  // ownership moves to the list
        blocks_.erase(taken->data);
      }
    counters.idle.fetch_sub(bytes, std::memory_order_relaxed);
    return bytes;
  }

  /// The same for all logical devices on one physical device.
  block* drop_all(int physical) {
    block* dropped = nullptr;
    for (int ordinal = 0; ordinal < counted_ordinals; ++ordinal) {
      bool here = false;
      for (const auto& [size, cached] : cache_[index(ordinal)])
        here = here || (cached != nullptr && cached->physical == physical);
      if (here) drop(ordinal, dropped, counters(backend::cuda{}, ordinal));
    }
    return dropped;
  }

  /// Frees each block in the order of its device's work.
  static void give_to_host(block* dropped) {
    while (dropped != nullptr) {
      const std::unique_ptr<block> last(std::exchange(dropped, dropped->next));
      simulated_devices::at(last->ordinal)
          .submit<true>([data = last->data, bytes = last->bytes, guarded = last->guarded] {
            if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(data, bytes);
            free_data(data, guarded);
          });
    }
  }

  static void free_data(void* data, bool guarded) noexcept {
    if (guarded)
      simulated_guard::of_process().release(data);
    else
      ::operator delete (data, std::align_val_t{unit});
  }

  /// Makes AddressSanitizer report accesses beyond the first `allowed` bytes, from this point in the device's work.
  static void forbid(const block* b, std::size_t allowed) noexcept {
    if (__asan_poison_memory_region == nullptr) return;
    simulated_devices::at(b->ordinal)
        .submit<true>([data = static_cast<std::byte*>(b->data), bytes = b->bytes, allowed] {
          __asan_unpoison_memory_region(data, allowed);
          __asan_poison_memory_region(data + allowed, bytes - allowed);
        });
  }

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::array<std::map<std::pair<std::size_t, bool>, block*>, counted_ordinals> cache_;  // per logical device
  std::unordered_map<void*, std::unique_ptr<block>> blocks_;
  std::array<std::size_t, counted_ordinals> reserved_{};  // per physical device, including caches
  std::array<std::size_t, counted_ordinals> cached_{};
  std::array<std::size_t, counted_ordinals> most_in_use_{};  // peak
};

}  // namespace devplace::detail
