// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The subset of JSON (RFC 8259) that headers of files use.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <devplace/base/error.hpp>

namespace devplace::detail {

/// Returns the number of leading bytes that are UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above
/// U+10FFFF).
inline std::size_t valid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto byte = [&](std::size_t i) -> unsigned {
      return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
    };
    const unsigned lead = byte(0);
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4) return at;
    const std::size_t more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    // The range of the second byte excludes overlong forms, surrogates and numbers above U+10FFFF.
    const unsigned first = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned last = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    for (std::size_t i = 1; i <= more; ++i)
      if (byte(i) < (i == 1 ? first : 0x80) || byte(i) > (i == 1 ? last : 0xbf)) return at;
    at += more + 1;
  }
  return at;
}

/// Writes a UTF-8 string in JSON: in quotes, escaping only where JSON requires it.
inline std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    constexpr std::string_view special = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    if (const std::size_t index = special.find(c); index != std::string_view::npos) {
      result += '\\';
      result += letters[index];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += "\\u00";
      result += c < 0x10 ? '0' : '1';
      result += "0123456789abcdef"[c % 16];
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// Reads JSON token by token for a format of known structure. Unexpected values are errors, so the format limits the
/// depth of nesting. The text must be UTF-8.
class json_text {
 public:
  /// `subject` begins the messages of the errors.
  json_text(std::string_view text, std::string subject) : text_(text), subject_(std::move(subject)) {}

  /// Skips white space, and the character `c` if it follows. Returns whether `c` followed.
  bool accept(char c) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail_expected(joined({"'", std::string_view(&c, 1), "'"}));
  }

  void expect_end() {
    skip_space();
    if (position_ != text_.size()) fail_expected("the end");
  }

  /// Reads a string and resolves its escapes.
  std::string string() {
    if (!accept('"')) fail_expected("a string in double quotes");
    std::string result;
    for (;;) {
      const char c = next();
      if (c == '"') return result;
      if (static_cast<unsigned char>(c) < 0x20) {
        --position_;
        fail_expected("an escape such as \\n instead of a control character");
      }
      if (c == '\\')
        append_escaped(result);
      else
        result += c;
    }
  }

  /// Reads an integer from 0 to 2^64 - 1.
  std::uint64_t integer() {
    skip_space();
    std::uint64_t result = 0;
    const char* const end = text_.data() + text_.size();
    const char* const start = text_.data() + position_;
    const auto [stop, error] = std::from_chars(start, end, result);
    // JSON has no leading zeros.
    if (error != std::errc() || (*start == '0' && stop - start > 1) ||
        (stop != end && (*stop == '.' || *stop == 'e' || *stop == 'E')))
      fail_expected("an integer from 0 to 2^64 - 1");
    position_ += static_cast<std::size_t>(stop - start);
    return result;
  }

 private:
  void skip_space() {
    position_ = text_.find_first_not_of(" \t\n\r", position_);
    if (position_ == std::string_view::npos) position_ = text_.size();
  }

  char next() {
    if (position_ == text_.size()) fail_expected("the closing '\"' of a string");
    return text_[position_++];
  }

  /// Reads four hexadecimal digits.
  unsigned code_unit() {
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
      const std::size_t digit = std::string_view("0123456789abcdefABCDEF").find(next());
      if (digit == std::string_view::npos) {
        --position_;
        fail_expected("a hexadecimal digit");
      }
      result = result * 16 + static_cast<unsigned>(digit < 16 ? digit : digit - 6);
    }
    return result;
  }

  /// Reads the escape behind a backslash and appends its character as UTF-8.
  void append_escaped(std::string& to) {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const char c = next();
    if (const std::size_t index = letters.find(c); index != std::string_view::npos) {
      to += meanings[index];
      return;
    }
    if (c != 'u') {
      --position_;
      fail_expected("one of \"\\/bfnrtu after a backslash");
    }
    unsigned code = code_unit();
    if (code >= 0xd800 && code < 0xe000) {
      const unsigned low = code < 0xdc00 && next() == '\\' && next() == 'u' ? code_unit() : 0;
      if (low < 0xdc00 || low >= 0xe000) fail_expected("the second half of a UTF-16 surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr unsigned leads[] = {0, 0xc0, 0xe0, 0xf0};
    to += static_cast<char>(leads[more] | (code >> (6 * more)));
    for (int i = more - 1; i >= 0; --i) to += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f));
  }

  [[noreturn]] void fail_expected(const std::string& expected) const {
    throw file_error({subject_, " has a header that is not the JSON of its format: ", expected, " is missing at byte ",
                      position_, " of the header. Write or copy the file again."});
  }

  std::string_view text_;
  std::string subject_;
  std::size_t position_ = 0;
};

}  // namespace devplace::detail
