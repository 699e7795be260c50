// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace devplace::detail {

/// Returns a text that contains the name of the type `Work`, a literal.
template <class Work> const char* text_of_work() { return __PRETTY_FUNCTION__; }

/// Extracts the type from a text_of_work.
inline std::string_view work_in(std::string_view text) {
  if (const std::size_t start = text.find("Work = "); start != text.npos) text.remove_prefix(start + 7);
  return text.substr(0, text.size() - 1);
}

}  // namespace devplace::detail
