// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/row_block.hpp>

namespace devplace {

/// Memory of simulated devices: the host's, touched by the device's thread only.
template <>
struct implementation<backend::cuda, op::memory> {
  static detail::memory_block allocate(int ordinal, std::size_t bytes) {
    static_cast<void>(detail::simulated_devices::at(ordinal));
    detail::memory_counters& counters = detail::counters(backend::cuda{}, ordinal);
    void* data = ::operator new (bytes, std::align_val_t{detail::alignment}, std::nothrow);
    if (data == nullptr)
      throw out_of_memory(detail::place_name(backend::cuda{}, ordinal) + " (simulated): " + std::to_string(bytes) +
                          " bytes could not be allocated while " + std::to_string(counters.allocated.load()) +
                          " bytes are in use by devplace there; use a smaller batch or free tensors that are not "
                          "needed.");
    detail::count_allocation(counters, bytes);
    return {data, bytes, ordinal, &release};
  }
  static void copy_in(int ordinal, void* to, const void* from, std::size_t bytes) {
    copy_within(ordinal, to, from, bytes);
    synchronize(ordinal);
  }
  static void copy_out(int ordinal, void* to, const void* from, std::size_t bytes) {
    copy_within(ordinal, to, from, bytes);
    synchronize(ordinal);
  }
  static void copy_within(int ordinal, void* to, const void* from, std::size_t bytes) {
    detail::simulated_devices::at(ordinal).submit([=] { std::memmove(to, from, bytes); });
  }
  static void copy_between(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
    synchronize(from_ordinal);
    copy_within(to_ordinal, to, from, bytes);
    synchronize(to_ordinal);
  }
  static void copy_rows_in(int ordinal, void* to, const void* from, const detail::row_block& block) {
    copy_rows_within(ordinal, to, from, block);
    synchronize(ordinal);
  }
  static void copy_rows_out(int ordinal, void* to, const void* from, const detail::row_block& block) {
    copy_rows_within(ordinal, to, from, block);
    synchronize(ordinal);
  }
  static void copy_rows_within(int ordinal, void* to, const void* from, const detail::row_block& block) {
    detail::simulated_devices::at(ordinal).submit([=] { detail::copy_row_block(to, from, block); });
  }
  static void copy_rows_between(int to_ordinal, void* to, int from_ordinal, const void* from,
                                const detail::row_block& block) {
    synchronize(from_ordinal);
    copy_rows_within(to_ordinal, to, from, block);
    synchronize(to_ordinal);
  }
  static void synchronize(int ordinal) { detail::simulated_devices::at(ordinal).wait(); }

 private:
  /// The memory is given back after the work that was asked for before, some of which may use it.
  static void release(void* data, std::size_t bytes, int ordinal) noexcept {
    detail::count_release(detail::counters(backend::cuda{}, ordinal), bytes);
    detail::simulated_devices::at(ordinal).submit<true>(
        [data] { ::operator delete (data, std::align_val_t{detail::alignment}); });
  }
};

}  // namespace devplace
