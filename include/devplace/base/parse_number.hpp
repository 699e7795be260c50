// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace devplace::detail {

/// Parses all of `text` as a number, independently of the locale. Returns invalid_argument for any other text, and
/// result_out_of_range for numbers outside of the type's range.
template <class Number> std::errc parse_number(std::string_view text, Number& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return end == text.data() + text.size() ? code : std::errc::invalid_argument;
}

/// Parses all of `text` as a number from 0 to the largest int; returns -1 for other texts.
inline int whole_number(std::string_view text) {
  int value = -1;
  return parse_number(text, value) == std::errc{} && value >= 0 ? value : -1;
}

}  // namespace devplace::detail
