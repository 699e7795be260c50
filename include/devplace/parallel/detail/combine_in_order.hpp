// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/process/combine.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::parallel::detail {

/// Combines host arrays of any number of participants, from array `start` in cyclic order: ((g(start) + g(start + 1)) +
/// ...) + g(start - 1). bf16 and half are combined in float and rounded at the end. Arrays and result are bytes,
/// because arrays are received from other processes.
template <class T, reduction Op> struct combine_in_order {
  const std::byte* const* summands;
  std::size_t participants;
  std::size_t start;
  std::size_t first;  ///< first element in the arrays and the result
  std::byte* result;  ///< may be an array that this process owns

  /// Works in blocks that stay in the first-level cache, so that every array is read once.
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
        devplace::detail::independent_loop(0, n,
                                           [&](std::size_t i) { to[i] = divided(combining::both(one[i], other[i])); });
        continue;
      }
      // The result may alias an array that has not been read yet.
      devplace::detail::independent_loop(0, n, [&](std::size_t i) { totals[i] = one[i]; });
      for (std::size_t step = 1; step < participants; ++step) {
        const T* const more = elements((start + step) % participants) + from;
        devplace::detail::independent_loop(0, n,
                                           [&](std::size_t i) { totals[i] = combining::both(totals[i], more[i]); });
      }
      devplace::detail::independent_loop(0, n, [&](std::size_t i) { to[i] = divided(totals[i]); });
    }
  }

 private:
  const T* elements(std::size_t participant) const { return reinterpret_cast<const T*>(summands[participant]); }
};

}  // namespace devplace::parallel::detail
