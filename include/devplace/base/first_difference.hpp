// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace devplace::detail {

/// Returns the first lines in which two texts differ; `nothing more` for a text that has ended.
inline std::pair<std::string, std::string> first_difference(const std::string& first, const std::string& second) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < first.size() && i < second.size() && first[i] == second[i]; ++i)
    if (first[i] == '\n') begin = i + 1;
  const auto line = [begin](const std::string& text) {
    const std::string found = text.substr(begin, text.find('\n', begin) - begin);
    return found.empty() ? "nothing more" : found;
  };
  return {line(first), line(second)};
}

}  // namespace devplace::detail
