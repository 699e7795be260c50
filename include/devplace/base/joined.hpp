// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

#include <devplace/config.hpp>

namespace devplace::detail {

/// A part of a text: characters, which must outlive the part, or a whole number, which is written in decimal.
class text_part {
 public:
  constexpr text_part(const char* text) : text_(text), value_(unknown_size) {}
  constexpr text_part(std::string_view text) : text_(text.data() == nullptr ? "" : text.data()), value_(text.size()) {}
  text_part(const std::string& text) : text_(text.data()), value_(text.size()) {}
  template <std::integral Number>
  constexpr text_part(Number number)
      : text_(std::signed_integral<Number> ? signed_number : nullptr),
        value_(static_cast<unsigned long long>(number)) {}
  text_part(char) = delete;  // would be written as a number

  void append_to(std::string& text) const {
    if (text_ == nullptr)
      text += std::to_string(value_);
    else if (text_ == signed_number)
      text += std::to_string(static_cast<long long>(value_));
    else
      text.append(text_, value_ == unknown_size ? std::char_traits<char>::length(text_) : value_);
  }

 private:
  static constexpr unsigned long long unknown_size = std::numeric_limits<unsigned long long>::max();
  static constexpr char signed_number[1] = {};

  const char* text_;          // null: the part is an unsigned number
  unsigned long long value_;  // the number, or the count of characters
};

/// Returns the parts one after the other. A call compiles to a tenth of the code of a chain of `+`, in which each part
/// would be a string with a destructor.
DEVPLACE_COMPILABLE([[gnu::noinline, DEVPLACE_FOR_SIZE]]) std::string joined(std::initializer_list<text_part> parts) {
  std::string text;
  for (const text_part& part : parts) part.append_to(text);
  return text;
}
DEVPLACE_COMPILED(std::string joined(std::initializer_list<text_part>))

/// Lists the texts `name(k)` for k < count, at most 8 of them: `a, b`, or `a, b, ... and 3 more`.
template <class Name> std::string listed(std::size_t count, const Name& name) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t k = 0; k < count && k < most; ++k) text = joined({text, k == 0 ? "" : ", ", name(k)});
  return count > most ? joined({text, " and ", count - most, " more"}) : text;
}

}  // namespace devplace::detail
