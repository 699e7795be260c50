// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

namespace devplace::detail {

/// The first lines in which two texts differ; `nothing more` for a text that has ended.
template <class Text = std::string> struct first_difference {
  Text in_first, in_second;

  first_difference(const Text& first, const Text& second) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < first.size() && i < second.size() && first[i] == second[i]; ++i)
      if (first[i] == '\n') begin = i + 1;
    in_first = line(first, begin);
    in_second = line(second, begin);
  }

 private:
  static Text line(const Text& text, std::size_t begin) {
    const Text found = text.substr(begin, text.find('\n', begin) - begin);
    return found.empty() ? "nothing more" : found;
  }
};

}  // namespace devplace::detail
