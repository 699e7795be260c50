// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/backend/simulated/driver.hpp>
#include <devplace/backend/simulated/guard.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>
#include <devplace/memory/statistics.hpp>

// Functions of AddressSanitizer if it is linked, otherwise null.
extern "C" {
void __asan_poison_memory_region(const volatile void* begin, std::size_t bytes) __attribute__((weak));
void __asan_unpoison_memory_region(const volatile void* begin, std::size_t bytes) __attribute__((weak));
}

namespace devplace::detail {

/// The memory of the simulated devices. A logical device caches a freed block for its next request of the same rounded
/// size. A device executes its work in the order of the calls, so the previous owner's work on the block is done before
/// the next owner's work begins. If another device uses a block, the program must order the two devices anyway. Cached
/// blocks return to the host in the order of their device's work. All logical devices on one physical device share its
/// limit. They also share a bound of their caches: the peak of their memory in use, plus kept_bytes.
class simulated_pool {
 public:
  /// Size and alignment unit of blocks.
  static constexpr std::size_t unit = 64;
  /// Bytes that may always be cached.
  static constexpr std::size_t kept_bytes = std::size_t{1} << 20;

  explicit simulated_pool(std::size_t limit) : limit_(limit) {}

  static simulated_pool& of_process() {
    static undestroyed<simulated_pool> pool(simulated_memory_limit());
    return pool.value;
  }

  /// Allocates for the logical device `ordinal` on the device `physical`. Returns null if the limit is exceeded even
  /// after trimming that device's caches, or if the host has too little memory. `guarded`: inaccessible to the host.
  void* take(int ordinal, int physical, std::size_t bytes, bool guarded, memory_counters& counters) {
    if (bytes > unlimited_memory - unit) return nullptr;
    const std::size_t rounded = round(bytes);
    const std::lock_guard lock(mutex_);
    logical_[index(ordinal)].physical = physical;
    physical_device& device = device_of(ordinal);
    std::vector<void*>& cached = logical_[index(ordinal)].cache[{rounded, guarded}];
    void* data = nullptr;
    if (!cached.empty()) {
      data = cached.back();
      cached.pop_back();
      device.cached -= rounded;
      counters.idle.fetch_sub(bytes, std::memory_order_relaxed);
    } else {
      // Recurring sizes are served from the cache. Without this bound, ever new sizes would fill the cache.
      if (!fits(device, rounded) || device.cached > device.most_in_use + kept_bytes) drop_all(physical);
      if (fits(device, rounded)) data = from_host(rounded, guarded);
      if (data == nullptr) return nullptr;
      device.reserved += rounded;
      counters.idle.fetch_add(rounded - bytes, std::memory_order_relaxed);
    }
    device.most_in_use = std::max(device.most_in_use, device.reserved - device.cached);
    poison_behind(ordinal, data, rounded, bytes);
    return data;
  }

  /// Frees memory that take() returned for these arguments.
  void give(int ordinal, void* data, std::size_t bytes, bool guarded, memory_counters& counters) noexcept {
    const std::size_t rounded = round(bytes);
    const std::lock_guard lock(mutex_);
    physical_device& device = device_of(ordinal);
    poison_behind(ordinal, data, rounded, 0);
    try {
      logical_[index(ordinal)].cache[{rounded, guarded}].push_back(data);
      device.cached += rounded;
      counters.idle.fetch_add(bytes, std::memory_order_relaxed);
    } catch (const std::bad_alloc&) {  // not cached
      device.reserved -= rounded;
      counters.idle.fetch_sub(rounded - bytes, std::memory_order_relaxed);
      return_to_host(ordinal, data, rounded);
    }
  }

  /// Gives the cache of one logical device back to the host; returns the number of bytes.
  std::size_t trim(int ordinal, memory_counters& counters) {
    const std::lock_guard lock(mutex_);
    return drop(ordinal, counters);
  }

  bool limited() const { return limit_ != unlimited_memory; }

  /// Returns the bytes of a physical device that are not in use, including caches.
  std::size_t obtainable(int physical) const {
    const std::lock_guard lock(mutex_);
    return limit_ - physical_[index(physical)].reserved + physical_[index(physical)].cached;
  }

  std::string limit_text(int physical) const {
    if (!limited()) return "it is the host's memory, without a limit from DEVPLACE_SIMULATED_MEMORY";
    return joined({"physical device ", physical, " has ", limit_, " bytes (", byte_text(limit_),
                   ", from the environment variable DEVPLACE_SIMULATED_MEMORY), ", byte_text(obtainable(physical)),
                   " of which are not in use by any place"});
  }

 private:
  struct physical_device {
    std::size_t reserved = 0;  // bytes, including caches
    std::size_t cached = 0;
    std::size_t most_in_use = 0;  // peak
  };

  struct logical_device {
    int physical = 0;
    std::map<std::pair<std::size_t, bool>, std::vector<void*>> cache;  // by rounded size and `guarded`
  };

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  static std::size_t round(std::size_t bytes) { return padded_to(bytes, unit); }

  physical_device& device_of(int ordinal) { return physical_[index(logical_[index(ordinal)].physical)]; }

  bool fits(const physical_device& device, std::size_t bytes) const {
    return bytes <= limit_ && device.reserved <= limit_ - bytes;
  }

  /// Returns null if the host has too little memory.
  static void* from_host(std::size_t bytes, bool guarded) noexcept {
    void* const data = guarded ? simulated_guard::of_process().allocate(bytes) : nullptr;
    return data != nullptr ? data : ::operator new(bytes, std::align_val_t{unit}, std::nothrow);
  }

  std::size_t drop(int ordinal, memory_counters& counters) {
    std::size_t bytes = 0;
    for (auto& [size, cached] : logical_[index(ordinal)].cache) {
      for (void* const data : cached) return_to_host(ordinal, data, size.first);
      bytes += size.first * cached.size();
      cached.clear();
    }
    device_of(ordinal).cached -= bytes;
    device_of(ordinal).reserved -= bytes;
    counters.idle.fetch_sub(bytes, std::memory_order_relaxed);
    return bytes;
  }

  void drop_all(int physical) {
    for (int ordinal = 0; ordinal < counted_ordinals; ++ordinal)
      if (logical_[index(ordinal)].physical == physical) drop(ordinal, counters(backend::cuda{}, ordinal));
  }

  /// Frees memory in the order of its device's work.
  static void return_to_host(int ordinal, void* data, std::size_t bytes) {
    simulated_devices::at(ordinal).submit<true>([data, bytes] {
      if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(data, bytes);
      if (simulated_guard::of_process().contains(data))
        simulated_guard::of_process().release(data, bytes);
      else
        ::operator delete(data, std::align_val_t{unit});
    });
  }

  /// Makes AddressSanitizer report accesses beyond the first `allowed` bytes, from this point in the device's work.
  static void poison_behind(int ordinal, void* data, std::size_t bytes, std::size_t allowed) noexcept {
    if (__asan_poison_memory_region == nullptr) return;
    simulated_devices::at(ordinal).submit<true>([data = static_cast<std::byte*>(data), bytes, allowed] {
      __asan_unpoison_memory_region(data, allowed);
      __asan_poison_memory_region(data + allowed, bytes - allowed);
    });
  }

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::array<logical_device, counted_ordinals> logical_{};
  std::array<physical_device, counted_ordinals> physical_{};
};

}  // namespace devplace::detail
