// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/parallel/detail/combine.hpp>

namespace devplace::parallel::detail {

/// Combines arrays of the host, of any number of participants, from array `start` on and around: ((g(start) + g(start +
/// 1)) + ...) + g(start - 1). The arrays and the result are bytes, since they are received from other processes.
template <class T, reduction Op>
struct combine_in_order {
  const std::byte* const* summands;
  std::size_t participants;
  std::size_t start;
  std::size_t first;  ///< element of the arrays and of the result
  std::byte* result;  ///< may be one of the arrays, of a buffer that this process owns

  /// In blocks that stay in the first-level cache, so that every array is read once.
  void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t block = 1024;
    T totals[block];
    for (std::size_t from = first + begin; from < first + end; from += block) {
      const std::size_t n = std::min(first + end - from, block);
      T* const to = reinterpret_cast<T*>(result) + from;
      // With more than two arrays, the result may be one that is still to be read.
      T* const sums = participants == 2 ? to : totals;
      const T* before = elements(start) + from;
      if (participants == 1) devplace::detail::independent_loop(0, n, [&](std::size_t i) { sums[i] = before[i]; });
      for (std::size_t step = 1; step < participants; ++step, before = sums) {
        const T* const more = elements((start + step) % participants) + from;
        devplace::detail::independent_loop(0, n,
                                           [&](std::size_t i) { sums[i] = combine<T, Op>::both(before[i], more[i]); });
      }
      if constexpr (Op == reduction::mean)
        devplace::detail::independent_loop(
            0, n, [&](std::size_t i) { sums[i] = combine<T, Op>::finish(sums[i], static_cast<int>(participants)); });
      if (sums != to) devplace::detail::independent_loop(0, n, [&](std::size_t i) { to[i] = sums[i]; });
    }
  }

 private:
  const T* elements(std::size_t participant) const { return reinterpret_cast<const T*>(summands[participant]); }
};

}  // namespace devplace::parallel::detail
