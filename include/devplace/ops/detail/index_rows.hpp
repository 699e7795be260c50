// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>

namespace devplace::detail {

/// Sets `index` to the indices of element number i of a row-major array.
template <std::size_t Rank>
DEVPLACE_HD constexpr void split_index(std::size_t i, const std::size_t (&sizes)[Rank], std::size_t (&index)[Rank]) {
  for (std::size_t axis = Rank; axis-- > 1; i /= sizes[axis]) index[axis] = i % sizes[axis];
  index[0] = i;
}

/// Calls `row(index, n)` for the runs along the last axis of elements [begin, end) of a row-major array, in order:
/// n elements from `index` on. Counts the indices instead of dividing for each element.
template <std::size_t Rank, class Row>
[[gnu::always_inline]] inline void for_rows(const std::size_t (&sizes)[Rank], std::size_t begin, std::size_t end,
                                            const Row& row) {
  std::size_t index[Rank];
  split_index(begin, sizes, index);
  while (begin != end) {
    const std::size_t left = sizes[Rank - 1] - index[Rank - 1], n = end - begin < left ? end - begin : left;
    row(index, n);
    begin += n;
    index[Rank - 1] = 0;
    for (std::size_t axis = Rank - 1; axis-- > 0 && ++index[axis] == sizes[axis];) index[axis] = 0;
  }
}

}  // namespace devplace::detail
