// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace devplace::detail {

/// Parses all of `text` as a number from 0 to the largest int; returns -1 for other texts.
inline int whole_number(std::string_view text) {
  int value = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size() && value >= 0 ? value : -1;
}

}  // namespace devplace::detail
