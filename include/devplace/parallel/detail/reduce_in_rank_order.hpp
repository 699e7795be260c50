// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/combine.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::parallel::detail {

using devplace::detail::independent_loop;

/// Pointers to the buffers of all ranks, as an argument of kernels.
template <class T> struct rank_table {
  T* buffers[max_ranks];
  int ranks;
};

/// Reduces the ranks' buffers from element `first` in the order of the ranks: ((g0 + g1) + g2) + ...; bf16 and half in
/// float, rounded at the end. Stores the result on rank `target`, or on all ranks. The bits do not depend on how the
/// elements are divided among devices and threads.
template <class T, reduction Op> struct reduce_in_rank_order {
  using total_type = devplace::detail::computed_t<T>;
  using combining = combine<total_type, Op>;

  rank_table<T> table;
  std::size_t first;
  int target;  ///< the rank that gets the result; -1: all

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t at = first + i;
    total_type total = table.buffers[0][at];
    for (int rank = 1; rank < table.ranks; ++rank) total = combining::both(total, table.buffers[rank][at]);
    const T result(combining::finish(total, table.ranks));
    if (target >= 0) {
      table.buffers[target][at] = result;
      return;
    }
    for (int rank = 0; rank < table.ranks; ++rank) table.buffers[rank][at] = result;
  }

  /// For the CPU: works in blocks that stay in the first-level cache, so that every buffer is read and written once.
  void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t block = 1024;
    total_type totals[block];
    for (std::size_t from = first + begin; from < first + end; from += block) {
      const std::size_t n = first + end - from < block ? first + end - from : block;
      const T* const start = table.buffers[0] + from;
      independent_loop(0, n, [&](std::size_t i) { totals[i] = start[i]; });
      for (int rank = 1; rank < table.ranks; ++rank) {
        const T* const more = table.buffers[rank] + from;
        independent_loop(0, n, [&](std::size_t i) { totals[i] = combining::both(totals[i], more[i]); });
      }
      if constexpr (Op == reduction::mean)
        independent_loop(0, n, [&](std::size_t i) { totals[i] = combining::finish(totals[i], table.ranks); });
      for (int rank = target < 0 ? 0 : target; rank < (target < 0 ? table.ranks : target + 1); ++rank) {
        T* const to = table.buffers[rank] + from;
        independent_loop(0, n, [&](std::size_t i) { to[i] = T(totals[i]); });
      }
    }
  }
};

/// Adds the elements received from the neighbour to this rank's elements. The last step of a mean also divides.
template <class T, reduction Op> struct add_received {
  T* own;
  const T* received;
  int divisor;  ///< the number of ranks in the last step, else 0

  DEVPLACE_HD void operator()(std::size_t i) const {
    const T total = combine<T, Op>::both(received[i], own[i]);
    own[i] = divisor == 0 ? total : combine<T, Op>::finish(total, divisor);
  }
};

/// Combines host arrays of any number of participants, from array `start` in cyclic order: ((g(start) + g(start + 1)) +
/// ...) + g(start - 1). bf16 and half are combined in float and rounded at the end. Arrays and result are bytes,
/// because arrays are received from other processes.
template <class T, reduction Op> struct combine_in_order {
  const std::byte* const* summands;
  std::size_t participants;
  std::size_t start;
  std::size_t first;  ///< first element in the arrays and the result
  std::byte* result;  ///< may be an array that this process owns

  void range(std::size_t begin, std::size_t end) const {
    using total_type = devplace::detail::computed_t<T>;
    using combining = combine<total_type, Op>;
    constexpr std::size_t block = 1024;
    total_type totals[block];
    for (std::size_t from = first + begin; from < first + end; from += block) {
      const std::size_t n = std::min(first + end - from, block);
      T* const to = reinterpret_cast<T*>(result) + from;
      const T* const one = elements(start) + from;
      const auto divided = [&](total_type sum) { return T(combining::finish(sum, static_cast<int>(participants))); };
      if (participants == 2) {
        const T* const other = elements((start + 1) % participants) + from;
        independent_loop(0, n, [&](std::size_t i) { to[i] = divided(combining::both(one[i], other[i])); });
        continue;
      }
      // The result may alias an array that has not been read yet.
      independent_loop(0, n, [&](std::size_t i) { totals[i] = one[i]; });
      for (std::size_t step = 1; step < participants; ++step) {
        const T* const more = elements((start + step) % participants) + from;
        independent_loop(0, n, [&](std::size_t i) { totals[i] = combining::both(totals[i], more[i]); });
      }
      independent_loop(0, n, [&](std::size_t i) { to[i] = divided(totals[i]); });
    }
  }

 private:
  const T* elements(std::size_t participant) const { return reinterpret_cast<const T*>(summands[participant]); }
};

}  // namespace devplace::parallel::detail
