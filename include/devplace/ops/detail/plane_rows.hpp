// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace devplace::detail {

/// Elements [begin, end) of planes of `rows` x `columns` consist of whole rows and parts of rows. For each of these,
/// calls f(plane, row, first, last), where [first, last) are its columns.
void for_each_plane_row(std::size_t rows, std::size_t columns, std::size_t begin, std::size_t end, const auto& f) {
  std::size_t row = begin / columns % rows, plane = begin / columns / rows, first = begin % columns;
  for (std::size_t i = begin; i < end; first = 0) {
    const std::size_t n = columns - first < end - i ? columns - first : end - i;
    f(plane, row, first, first + n);
    i += n;
    if (++row == rows) row = 0, ++plane;
  }
}

}  // namespace devplace::detail
