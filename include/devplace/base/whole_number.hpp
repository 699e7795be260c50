// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace devplace::detail {

/// The number that is all of `text`, from 0 to the largest int; -1 if it is anything else.
inline int whole_number(std::string_view text) {
  int value = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size() && value >= 0 ? value : -1;
}

}  // namespace devplace::detail
