// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace devplace::detail {

/// Formats rows as lines of text. The first `left` columns are left-aligned, the other columns right-aligned.
inline std::string aligned_rows(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string fill(widths[column] - row[column].size(), ' ');
      if (column != 0) text += "  ";
      text += column < left ? row[column] + fill : fill + row[column];
    }
    text += '\n';
  }
  return text;
}

}  // namespace devplace::detail
