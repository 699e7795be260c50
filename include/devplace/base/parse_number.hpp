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

}  // namespace devplace::detail
