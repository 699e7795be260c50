// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace devplace::detail {

/// Formats rows of `columns` cells each as lines of text. The first `left` columns are left-aligned, the other columns
/// right-aligned.
inline std::string aligned_rows(const std::vector<std::string>& cells, std::size_t columns, std::size_t left) {
  std::vector<std::size_t> widths(columns);
  for (std::size_t i = 0; i < cells.size(); ++i) widths[i % columns] = std::max(widths[i % columns], cells[i].size());
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t column = i % columns;
    const std::string fill(widths[column] - cells[i].size(), ' ');
    if (column != 0) text += "  ";
    text += column < left ? cells[i] + fill : fill + cells[i];
    if (column + 1 == columns) text += '\n';
  }
  return text;
}

}  // namespace devplace::detail
