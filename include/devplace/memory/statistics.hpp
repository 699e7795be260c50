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

/// What memory is for. Every allocation has one purpose, so that a full device can say what fills it.
enum class memory_purpose : unsigned char {
  tensors,          ///< the program's own tensors, and everything that is not below
  parameters,       ///< parameters and buffers of models
  gradients,        ///< their gradients
  optimizer_state,  ///< what an optimizer keeps for each parameter
  activations,      ///< what a forward pass saves for the backward pass, and the gradients between layers
  workspace         ///< scratch memory of operations and of communication
};

/// Number of purposes.
inline constexpr std::size_t memory_purposes = 6;

/// The purpose in words: `optimizer state`.
constexpr const char* memory_purpose_name(memory_purpose purpose) {
  constexpr const char* names[memory_purposes] = {"tensors",         "parameters",  "gradients",
                                                  "optimizer state", "activations", "workspace"};
  return names[static_cast<std::size_t>(purpose)];
}

/// What devplace holds of one place's memory. `allocated`, `peak` and the purposes count the bytes asked for;
/// `reserved` is what devplace has taken for them from the device: also what its cache keeps and what it adds to reach
/// whole units. Where there is no cache (cpu, pinned) it is `allocated`.
struct memory_usage {
  std::size_t allocated = 0;                              ///< bytes in use now
  std::size_t peak = 0;                                   ///< most bytes in use since the last `reset_peak_memory`
  std::uint64_t allocations = 0;                          ///< allocations so far
  std::size_t reserved = 0;                               ///< bytes in use, in the cache and lost to rounding
  std::array<std::size_t, memory_purposes> by_purpose{};  ///< bytes in use now for each purpose

  /// Bytes in use now for one purpose.
  constexpr std::size_t of(memory_purpose purpose) const { return by_purpose[static_cast<std::size_t>(purpose)]; }
};

namespace detail {

struct memory_counters {
  std::atomic<std::size_t> allocated{0};
  std::atomic<std::size_t> peak{0};
  std::atomic<std::uint64_t> allocations{0};
  std::atomic<std::size_t> idle{0};  ///< reserved and not in use: what a cache keeps, what rounding adds
  std::array<std::atomic<std::size_t>, memory_purposes> by_purpose{};
};

inline memory_counters& counters(cpu_backend, int) {
  static memory_counters of_cpu;
  return of_cpu;
}

inline memory_counters& counters(pinned_backend, int) {
  static memory_counters of_pinned;
  return of_pinned;
}

/// Ordinals beyond the last one that is counted share its counters.
inline memory_counters& counters(cuda_backend, int ordinal) {
  static memory_counters of_devices[counted_ordinals];
  return of_devices[ordinal < counted_ordinals ? ordinal : counted_ordinals - 1];
}

/// Every allocation that devplace makes for data, workspaces or packing buffers is counted here.
inline void count_allocation(memory_counters& c, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
  const std::size_t now = c.allocated.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  c.by_purpose[static_cast<std::size_t>(purpose)].fetch_add(bytes, std::memory_order_relaxed);
  c.allocations.fetch_add(1, std::memory_order_relaxed);
  std::size_t peak = c.peak.load(std::memory_order_relaxed);
  while (peak < now && !c.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

/// The same for memory of the CPU.
inline void count_allocation(std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
  count_allocation(counters(backend::cpu{}, 0), bytes, purpose);
}

inline void count_release(memory_counters& c, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
  c.allocated.fetch_sub(bytes, std::memory_order_relaxed);
  c.by_purpose[static_cast<std::size_t>(purpose)].fetch_sub(bytes, std::memory_order_relaxed);
}

/// The same for memory of the CPU.
inline void count_release(std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
  count_release(counters(backend::cpu{}, 0), bytes, purpose);
}

inline memory_usage usage_of(const memory_counters& c) {
  memory_usage usage;
  usage.allocated = c.allocated.load(std::memory_order_relaxed);
  usage.peak = c.peak.load(std::memory_order_relaxed);
  usage.allocations = c.allocations.load(std::memory_order_relaxed);
  usage.reserved = usage.allocated + c.idle.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < memory_purposes; ++i)
    usage.by_purpose[i] = c.by_purpose[i].load(std::memory_order_relaxed);
  return usage;
}

}  // namespace detail

/// What devplace holds of place `P`'s memory now. Safe to call from any thread.
template <place P>
memory_usage memory_statistics() {
  return detail::usage_of(detail::counters(backend_of_t<P>{}, place_traits<P>::ordinal));
}

/// Sets the peak of place `P` to what is in use now.
template <place P>
void reset_peak_memory() {
  detail::memory_counters& c = detail::counters(backend_of_t<P>{}, place_traits<P>::ordinal);
  c.peak.store(c.allocated.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}  // namespace devplace
