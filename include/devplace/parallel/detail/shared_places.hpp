// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/parallel/detail/shared_arrival.hpp>

namespace devplace::parallel::detail {

/// Where the processes put the data of their calls: each in its own memory, all at the same offset, which they compute
/// from the same numbers. Data of two consecutive calls never overlaps. Places follow each other and begin anew after
/// four portions, so that a line which the others still have in their second-level cache is not written: that costs
/// several times as much. Small data, of which latency counts, stays in a few pages instead.
class shared_places {
 public:
  explicit shared_places(std::size_t portion) : portion_(portion) {}

  /// Memory of a process.
  static std::size_t bytes_for(std::size_t portion) { return 4 * (small + aligned(portion)); }

  /// The offset of the next call's data. At most a portion.
  std::size_t take(std::size_t bytes) noexcept {
    const bool is_small = bytes <= small;
    const std::size_t first = is_small ? 0 : 4 * small, size = 4 * (is_small ? small : aligned(portion_));
    std::size_t& used = is_small ? small_used_ : used_;
    if (used + bytes > size) used = 0;
    const std::size_t offset = first + used;
    used += aligned(bytes);
    return offset;
  }

 private:
  static constexpr std::size_t small = 4096;
  static std::size_t aligned(std::size_t bytes) { return (bytes + 127) / 128 * 128; }

  std::size_t portion_;
  std::size_t used_ = 0, small_used_ = 0;
};

/// Where everything is in a segment: what each process tells the others, then the memory of each.
struct shared_layout {
  std::size_t processes, portion;

  std::size_t arrivals_bytes() const { return whole_pages(processes * sizeof(shared_arrival)); }
  std::size_t memory_bytes() const { return whole_pages(shared_places::bytes_for(portion)); }
  std::size_t memory_at(std::size_t rank) const { return arrivals_bytes() + rank * memory_bytes(); }
  std::size_t bytes() const { return memory_at(processes); }

 private:
  static std::size_t whole_pages(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }
};

}  // namespace devplace::parallel::detail
