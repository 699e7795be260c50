// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/base/divided_up.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/split.hpp>

namespace devplace::detail {

/// The rows of each batch that a process makes: the rows of its participants, or all rows in a program of one process.
struct batch_share {
  devplace::participants participants{0, 1};
  std::size_t places = 1;  ///< participants of this process
  split::rule rule = split::even;

  /// The share of a batch of `rows`: rows [begin, end).
  constexpr std::size_t begin(std::size_t rows) const {
    return split_begin(rule, rows, participants.count, participants.first);
  }
  constexpr std::size_t end(std::size_t rows) const {
    return split_begin(rule, rows, participants.count, participants.first + places);
  }
  /// The largest share of batches of up to `rows` rows. Under torch's rule a smaller batch may give a place more rows
  /// than a larger one: the last of four places gets 2 of 8 rows, and none of 9 rows.
  constexpr std::size_t capacity(std::size_t rows) const {
    return std::min(rows, divided_up(rows, participants.count) * places);
  }
};

}  // namespace devplace::detail
