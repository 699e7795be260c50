// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/place/placement.hpp>
#include <devplace/tensor/split.hpp>

namespace devplace::detail {

/// Which rows of each batch a process makes: those of its participants, or all in a program of one process.
struct batch_share {
  participants of{0, 1};
  std::size_t places = 1;  ///< participants of this process
  split::rule rule = split::even;

  /// The share of a batch of `rows`: rows [begin, end).
  ///@{
  constexpr std::size_t begin(std::size_t rows) const { return split_begin(rule, rows, of.count, of.first); }
  constexpr std::size_t end(std::size_t rows) const { return split_begin(rule, rows, of.count, of.first + places); }
  ///@}
  /// The most rows of the share of a batch of up to `rows`. Under torch's rule a smaller batch may give a place more
  /// rows than a larger one: 9 rows over four places are 3, 3, 3, 0, but 8 rows are 2 each.
  constexpr std::size_t capacity(std::size_t rows) const {
    return std::min(rows, (rows + of.count - 1) / of.count * places);
  }
};

}  // namespace devplace::detail
