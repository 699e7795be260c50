// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/base/divided_up.hpp>
#include <devplace/process/detail/shared_arrival.hpp>

namespace devplace::parallel {

namespace detail {

/// Allocates an offset for the data of each call. Each process writes to its own memory. The offset is the same in all
/// processes, because all compute it from the same sizes. Data of two consecutive calls does not overlap: no data
/// crosses the middle of the memory, so that the other half is free for the next call. Offsets advance through four
/// portions before they start again: writing a line that is still in another processor's second-level cache costs
/// several times as much as other writes. Small data, whose latency matters, cycles through a few pages instead.
class shared_offsets {
 public:
  explicit shared_offsets(std::size_t portion) : portion_(portion) {}

  /// Size of a process's memory.
  static constexpr std::size_t bytes_for(std::size_t portion) { return 4 * (small + aligned(portion)); }

  /// Returns the offset for the data of the next call; `bytes` is at most two portions.
  std::size_t take(std::size_t bytes) noexcept {
    const bool is_small = bytes <= small;
    const std::size_t first = is_small ? 0 : 4 * small, half = 2 * (is_small ? small : aligned(portion_));
    std::size_t& used = is_small ? small_used_ : used_;
    if (used % half + bytes > half) used += half - used % half;
    if (used == 2 * half) used = 0;
    const std::size_t offset = first + used;
    used += aligned(bytes);
    return offset;
  }

 private:
  static constexpr std::size_t small = 4096;
  static constexpr std::size_t aligned(std::size_t bytes) { return devplace::detail::padded_to(bytes, 128); }

  std::size_t portion_;
  std::size_t used_ = 0, small_used_ = 0;
};

}  // namespace detail

/// The layout of the memory that the processes of a host share (shared_memory_transport): the shared_arrival of each
/// process, then the memory of each process.
struct shared_layout {
  std::size_t processes;  ///< number of processes
  std::size_t portion;    ///< maximum number of bytes of a call

  /// The default portion. It fits a second-level cache. With more than 8 processes it is smaller, because each process
  /// maps the memory of all processes.
  static constexpr std::size_t usual_portion(std::size_t processes) {
    return std::clamp((std::size_t{8} << 20) / processes, std::size_t{64} << 10, std::size_t{1} << 20);
  }
  /// Bytes of shared memory per process with the default portion; 0 for a single process.
  static constexpr std::size_t usual_bytes(std::size_t processes) {
    return processes == 1 ? 0 : shared_layout{processes, usual_portion(processes)}.bytes() / processes;
  }

  /// In bytes: the sizes of the arrivals and of one process's memory, the offset of a process's memory, the total size.
  ///@{
  constexpr std::size_t arrivals_bytes() const { return whole_pages(processes * sizeof(detail::shared_arrival)); }
  constexpr std::size_t memory_bytes() const { return whole_pages(detail::shared_offsets::bytes_for(portion)); }
  constexpr std::size_t memory_at(std::size_t rank) const { return arrivals_bytes() + rank * memory_bytes(); }
  constexpr std::size_t bytes() const { return memory_at(processes); }
  ///@}

 private:
  static constexpr std::size_t whole_pages(std::size_t bytes) { return devplace::detail::padded_to(bytes, 4096); }
};

}  // namespace devplace::parallel
