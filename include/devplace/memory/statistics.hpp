// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <devplace/place/device_map.hpp>
#include <devplace/place/place.hpp>

namespace devplace {

/// What devplace holds of one place's memory. Bytes are those asked for, without the allocator's own overhead.
struct memory_usage {
  std::size_t allocated = 0;      ///< bytes in use now
  std::size_t peak = 0;           ///< most bytes in use at once since the last `reset_peak_memory`
  std::uint64_t allocations = 0;  ///< allocations so far
};

namespace detail {

struct memory_counters {
  std::atomic<std::size_t> allocated{0};
  std::atomic<std::size_t> peak{0};
  std::atomic<std::uint64_t> allocations{0};
};

inline memory_counters& counters(backend::cpu, int) {
  static memory_counters of_cpu;
  return of_cpu;
}

/// Ordinals beyond the last one that is counted share its counters.
inline memory_counters& counters(backend::cuda, int ordinal) {
  static memory_counters of_devices[counted_ordinals];
  return of_devices[ordinal < counted_ordinals ? ordinal : counted_ordinals - 1];
}

/// Every allocation that devplace makes for data, workspaces or packing buffers is counted here.
inline void count_allocation(memory_counters& c, std::size_t bytes) {
  const std::size_t now = c.allocated.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  c.allocations.fetch_add(1, std::memory_order_relaxed);
  std::size_t peak = c.peak.load(std::memory_order_relaxed);
  while (peak < now && !c.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

/// The same for memory of the CPU.
inline void count_allocation(std::size_t bytes) {
  count_allocation(counters(backend::cpu{}, 0), bytes);
}

inline void count_release(memory_counters& c, std::size_t bytes) {
  c.allocated.fetch_sub(bytes, std::memory_order_relaxed);
}

/// The same for memory of the CPU.
inline void count_release(std::size_t bytes) {
  count_release(counters(backend::cpu{}, 0), bytes);
}

}  // namespace detail

/// What devplace holds of place `P`'s memory now. Safe to call from any thread.
template <place P>
memory_usage memory_statistics() {
  const detail::memory_counters& c = detail::counters(backend_of_t<P>{}, place_traits<P>::ordinal);
  return {c.allocated.load(std::memory_order_relaxed), c.peak.load(std::memory_order_relaxed),
          c.allocations.load(std::memory_order_relaxed)};
}

/// Sets the peak of place `P` to what is in use now.
template <place P>
void reset_peak_memory() {
  detail::memory_counters& c = detail::counters(backend_of_t<P>{}, place_traits<P>::ordinal);
  c.peak.store(c.allocated.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}  // namespace devplace
