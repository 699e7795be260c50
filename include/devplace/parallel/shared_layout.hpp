// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/parallel/detail/shared_arrival.hpp>

namespace devplace::parallel {

namespace detail {

/// Where the processes put the data of their calls: each in its own memory, all at the same offset, which they compute
/// from the same numbers. Data of two consecutive calls never overlaps. Places follow each other and begin anew after
/// four portions, so that a line which the others still have in their second-level cache is not written: that costs
/// several times as much. Small data, of which latency counts, stays in a few pages instead.
class shared_places {
 public:
  explicit shared_places(std::size_t portion) : portion_(portion) {}

  /// Memory of a process.
  static constexpr std::size_t bytes_for(std::size_t portion) { return 4 * (small + aligned(portion)); }

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
  static constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 127) / 128 * 128; }

  std::size_t portion_;
  std::size_t used_ = 0, small_used_ = 0;
};

}  // namespace detail

/// Where everything is in the memory that the processes of a host share (shared_memory_transport): what each process
/// tells the others, then the memory of each.
struct shared_layout {
  std::size_t processes;  ///< their number
  std::size_t portion;    ///< the most bytes of a call

  /// The portion unless the program chooses one: what a second-level cache holds for up to 8 processes. Since each
  /// process maps the memory of all, the portions of more processes are smaller.
  static constexpr std::size_t usual_portion(std::size_t processes) {
    return std::clamp((std::size_t{8} << 20) / processes, std::size_t{64} << 10, std::size_t{1} << 20);
  }
  /// Bytes of each process of several, with that portion.
  static constexpr std::size_t usual_bytes(std::size_t processes) {
    return processes == 1 ? 0 : shared_layout{processes, usual_portion(processes)}.bytes() / processes;
  }

  /// Bytes of what the processes tell each other, of the memory of one, where that begins, and the bytes of all.
  ///@{
  constexpr std::size_t arrivals_bytes() const { return whole_pages(processes * sizeof(detail::shared_arrival)); }
  constexpr std::size_t memory_bytes() const { return whole_pages(detail::shared_places::bytes_for(portion)); }
  constexpr std::size_t memory_at(std::size_t rank) const { return arrivals_bytes() + rank * memory_bytes(); }
  constexpr std::size_t bytes() const { return memory_at(processes); }
  ///@}

 private:
  static constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }
};

}  // namespace devplace::parallel
