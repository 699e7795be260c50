// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/memory/row_block.hpp>

namespace devplace::detail {

/// Copies a block of rows within a device, between devices of one backend, or between a device and host memory.
/// Asynchronous only where copying a contiguous range is: within a device.
template <class ToBackend, class FromBackend>
void copy_rows(int to_ordinal, void* to, int from_ordinal, const void* from, const row_block& block) {
  if (block.width == 0 || block.rows == 0) return;
  const bool whole = block.rows == 1 || (block.to_pitch == block.width && block.from_pitch == block.width);
  const std::size_t bytes = block.width * block.rows;
  if constexpr (std::is_same_v<ToBackend, FromBackend>) {
    if (to_ordinal == from_ordinal) {
      if (whole)
        copy_within<ToBackend>(to_ordinal, to, from, bytes);
      else
        memory_of<ToBackend>().copy_rows_within(to_ordinal, to, from, block);
    } else if (whole) {
      copy_between<ToBackend>(to_ordinal, to, from_ordinal, from, bytes);
    } else {
      memory_of<ToBackend>().copy_rows_between(to_ordinal, to, from_ordinal, from, block);
    }
  } else if constexpr (in_host_memory<FromBackend>) {
    if (whole)
      copy_in<ToBackend>(to_ordinal, to, from, bytes);
    else
      memory_of<ToBackend>().copy_rows_in(to_ordinal, to, from, block);
  } else {
    static_assert(in_host_memory<ToBackend>);
    if (whole)
      copy_out<FromBackend>(from_ordinal, to, from, bytes);
    else
      memory_of<FromBackend>().copy_rows_out(from_ordinal, to, from, block);
  }
}

}  // namespace devplace::detail
