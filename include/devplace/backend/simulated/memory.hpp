// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/backend/simulated/driver.hpp>
#include <devplace/backend/simulated/pool.hpp>
#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>

namespace devplace {

/// Simulated devices can access all host memory, so pinned memory needs no locked pages.
template <> struct implementation<backend::pinned, op::memory> : detail::host_copies {
  static detail::memory_block allocate(int, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
    if (const std::string missing = detail::why_not_simulated(0, "pinned memory"); !missing.empty())
      throw placement_unavailable({"pinned memory is for devices: ", missing, "."});
    void* data = ::operator new(bytes, std::align_val_t{detail::alignment}, std::nothrow);
    if (data == nullptr)
      throw out_of_memory(detail::out_of_memory_text({"pinned", bytes, memory_statistics<pinned>(),
                                                      "it is the host's ordinary memory (simulated)", "",
                                                      "Use fewer or smaller pinned tensors, one staging tensor again "
                                                      "and again, or on<cpu>"}));
    detail::count_allocation(detail::counters(backend::pinned{}, 0), bytes, purpose);
    return detail::memory_block({data, bytes, 0, purpose, &release});
  }

 private:
  static void release(const detail::block_record& block) noexcept {
    ::operator delete(block.data, std::align_val_t{detail::alignment});
    detail::count_release(detail::counters(backend::pinned{}, 0), block.bytes, block.purpose);
  }
};

/// Memory of simulated devices: host memory that only the devices' threads access.
template <> struct implementation<backend::cuda, op::memory> {
  static detail::memory_block allocate(int ordinal, std::size_t bytes,
                                       memory_purpose purpose = memory_purpose::tensors) {
    return detail::naming_bad_alloc("memory on a simulated device", [&] {
      static_cast<void>(detail::simulated_devices::at(ordinal));
      detail::simulated_pool& pool = detail::simulated_pool::of_process();
      const int physical = detail::simulated_physical_device(ordinal);
      detail::memory_counters& counters = detail::counters(backend::cuda{}, ordinal);
      void* data = pool.take(ordinal, physical, bytes, detail::configuration::checked, counters);
      if (data == nullptr)
        throw out_of_memory(detail::out_of_memory_text(
            {detail::place_name(backend::cuda{}, ordinal) +
                 (physical == ordinal ? std::string(" (simulated)")
                                      : detail::joined({" (simulated, physical device ", physical, ")"})),
             bytes, detail::usage_of(counters), pool.limit_text(physical),
             pool.limited() ? "raise DEVPLACE_SIMULATED_MEMORY to simulate a larger device" : ""}));
      detail::count_allocation(counters, bytes, purpose);
      return detail::memory_block({data, bytes, ordinal, purpose, &release});
    });
  }
  static void copy(detail::copy_kind, int ordinal, void* to, const void* from, std::size_t bytes) {
    detail::simulated_devices::current(ordinal).submit<false, op::memory>([=] { std::memmove(to, from, bytes); });
  }
  static void copy_from_peer(int to_ordinal, void* to, int, const void* from, std::size_t bytes) {
    copy(detail::copy_kind::within, to_ordinal, to, from, bytes);
  }
  static std::string why_apart(int ordinal, int other) {
    if (detail::simulated_peers(ordinal, other)) return {};
    return detail::joined({detail::place_name(backend::cuda{}, ordinal), " cannot reach the memory of ",
                           detail::place_name(backend::cuda{}, other)});
  }
  static void wait(int ordinal) { detail::simulated_devices::current(ordinal).wait(); }
  static void synchronize(int ordinal) { detail::simulated_devices::at(ordinal).wait(); }
  static std::size_t trim(int ordinal) {
    static_cast<void>(detail::simulated_devices::at(ordinal));  // throws if there is no such device
    return detail::simulated_pool::of_process().trim(ordinal, detail::counters(backend::cuda{}, ordinal));
  }

 private:
  /// Caches the block in the device for later allocations. Pending work may still use the block, but precedes all work
  /// of the block's next owner. A child of fork() leaks the block, because its device stayed in the parent.
  static void release(const detail::block_record& block) noexcept {
    if (detail::simulated_devices::stayed_in_parent()) return;
    detail::memory_counters& counters = detail::counters(backend::cuda{}, block.ordinal);
    detail::count_release(counters, block.bytes, block.purpose);
    detail::simulated_pool::of_process().give(block.ordinal, block.data, block.bytes, detail::configuration::checked,
                                              counters);
  }
};

}  // namespace devplace
