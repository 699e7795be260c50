// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <devplace/place/device_map.hpp>
#include <devplace/place/place.hpp>

namespace devplace {

/// The purpose of an allocation; out-of-memory errors report the usage by purpose.
enum class memory_purpose : unsigned char {
  tensors,          ///< the program's own tensors, and everything else
  parameters,       ///< parameters and buffers of models
  gradients,        ///< gradients of parameters
  optimizer_state,  ///< moments and other state of optimizers
  activations,      ///< data that forward saves for backward, and the gradients between layers
  workspace         ///< scratch memory of operations and of communication
};

/// Number of purposes.
inline constexpr std::size_t memory_purposes = 6;

/// The purpose's name: `optimizer state`.
constexpr const char* memory_purpose_name(memory_purpose purpose) {
  constexpr const char* names[memory_purposes] = {"tensors",         "parameters",  "gradients",
                                                  "optimizer state", "activations", "workspace"};
  return names[static_cast<std::size_t>(purpose)];
}

/// Memory that devplace holds on one place. `allocated`, `peak` and the purposes count requested bytes; `reserved`
/// counts the bytes taken from the device, with cache and rounding. On places without a cache (cpu, pinned) `reserved`
/// equals `allocated`.
struct memory_usage {
  std::size_t allocated = 0;                              ///< bytes in use now
  std::size_t peak = 0;                                   ///< maximum of `allocated` since the last `reset_peak_memory`
  std::uint64_t allocations = 0;                          ///< number of allocations so far
  std::size_t reserved = 0;                               ///< bytes in use, cached, or lost to rounding
  std::array<std::size_t, memory_purposes> by_purpose{};  ///< bytes in use now, by purpose

  /// Bytes in use now for one purpose.
  constexpr std::size_t of(memory_purpose purpose) const { return by_purpose[static_cast<std::size_t>(purpose)]; }
};

namespace detail {

struct memory_counters {
  std::atomic<std::size_t> allocated{0};
  std::atomic<std::size_t> peak{0};
  std::atomic<std::uint64_t> allocations{0};
  std::atomic<std::size_t> idle{0};  ///< reserved but not in use: cache and rounding
  std::array<std::atomic<std::size_t>, memory_purposes> by_purpose{};
};

inline memory_counters& counters(cpu_backend, int ordinal) {
  static memory_counters of_cpu, of_shared_memory;
  return ordinal == shared_memory_ordinal ? of_shared_memory : of_cpu;
}

inline memory_counters& counters(pinned_backend, int) {
  static memory_counters of_pinned;
  return of_pinned;
}

/// The largest counted ordinal and all higher ordinals share one set of counters.
inline memory_counters& counters(any_device, int ordinal) {
  static memory_counters of_devices[counted_ordinals];
  return of_devices[ordinal < counted_ordinals ? ordinal : counted_ordinals - 1];
}

/// Count an allocation or a release; called for all memory of data, workspaces and packing buffers.
///@{
inline void count_allocation(memory_counters& c, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
  const std::size_t now = c.allocated.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  c.by_purpose[static_cast<std::size_t>(purpose)].fetch_add(bytes, std::memory_order_relaxed);
  c.allocations.fetch_add(1, std::memory_order_relaxed);
  std::size_t peak = c.peak.load(std::memory_order_relaxed);
  while (peak < now && !c.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

inline void count_release(memory_counters& c, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
  c.allocated.fetch_sub(bytes, std::memory_order_relaxed);
  c.by_purpose[static_cast<std::size_t>(purpose)].fetch_sub(bytes, std::memory_order_relaxed);
}
///@}

inline memory_usage usage_of(const memory_counters& c) {
  const std::size_t allocated = c.allocated.load(std::memory_order_relaxed);
  memory_usage usage{allocated, c.peak.load(std::memory_order_relaxed), c.allocations.load(std::memory_order_relaxed),
                     allocated + c.idle.load(std::memory_order_relaxed)};
  for (std::size_t i = 0; i < memory_purposes; ++i)
    usage.by_purpose[i] = c.by_purpose[i].load(std::memory_order_relaxed);
  return usage;
}

}  // namespace detail

/// The memory that devplace holds on place `P` now. Thread-safe.
template <class P = void> memory_usage memory_statistics() {
  constexpr bool is_place = place<P>;
  static_assert(is_place,
                "devplace: memory_statistics: name the place, as in memory_statistics<cuda<0>>(); memory_table() is a "
                "table of all places.");
  if constexpr (is_place) return detail::usage_of(detail::counters(backend_of_t<P>{}, place_traits<P>::ordinal));
  return {};
}

/// Sets the peak of place `P` to the memory in use now.
template <class P = void> void reset_peak_memory() {
  constexpr bool is_place = place<P>;
  static_assert(is_place, "devplace: reset_peak_memory: name the place, as in reset_peak_memory<cuda<0>>().");
  if constexpr (is_place) {
    detail::memory_counters& c = detail::counters(backend_of_t<P>{}, place_traits<P>::ordinal);
    c.peak.store(c.allocated.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
}

}  // namespace devplace
