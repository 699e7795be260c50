// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <charconv>
#include <cstddef>

#include "support/software_gpu/decoder.hpp"

namespace devplace::test::software_gpu {

namespace {

constexpr std::string_view blanks = " \t\r\n";

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c == separator && depth == 0) {
      parts.push_back(trimmed(text.substr(begin, k - begin)));
      begin = k + 1;
    }
  }
  if (const auto last = trimmed(text.substr(begin)); !last.empty()) parts.push_back(last);
  return parts;
}

std::optional<u64> number(std::string_view text) {
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  const bool negative = starts(text, "-");
  if (negative || starts(text, "+")) text = trimmed(text.substr(1));
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  int base = 10;
  if (text.size() > 2 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 32);
    if (kind == 'x' || kind == 'f' || kind == 'd') base = 16;
    if (kind == 'b') base = 2;
    if (base != 10) text.remove_prefix(2);
  }
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return negative ? 0 - value : value;
}

std::string_view opcode_of(std::string_view instruction) {
  if (starts(instruction, "@")) instruction = trimmed(instruction.substr(instruction.find_first_of(blanks)));
  return instruction.substr(0, instruction.find_first_of(blanks));
}

u8 size_of_type(std::string_view type) {
  if (type == "f16x2" || type == "bf16x2" || type == "tf32") return 4;
  const std::size_t digits = type.find_first_of("0123456789");
  if (digits == std::string_view::npos) return 0;
  const auto bits = number(type.substr(digits));
  const std::string_view kind = type.substr(0, digits);
  return bits && (kind == "b" || kind == "u" || kind == "s" || kind == "f" || kind == "bf") ? static_cast<u8>(*bits / 8)
                                                                                            : u8{0};
}

declaration declared(std::string_view text) {
  declaration result;
  u64 element = 1, count = 1;
  while (!(text = trimmed(text)).empty()) {
    const std::size_t end = std::min(text.find_first_of(blanks), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    if (word == ".align") {
      text = trimmed(text);
      const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
      result.alignment = number(text.substr(0, digits)).value_or(1);
      text.remove_prefix(digits);
    } else if (word[0] == '.') {
      if (const u8 bytes = size_of_type(word.substr(1)); bytes != 0) element = bytes;
    } else {
      const std::size_t bracket = word.find('[');
      result.name = word.substr(0, bracket);
      for (std::size_t at = bracket; at < word.size(); at = word.find('[', at + 1)) {
        const auto extent = number(word.substr(at + 1, word.find(']', at) - at - 1));
        result.any_size = result.any_size || !extent;
        count *= extent.value_or(0);
      }
    }
  }
  result.alignment = std::max(result.alignment, element);
  result.bytes = element * count;
  return result;
}

void statements::skip_comments() {
  for (;;) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
    if (starts(rest_, "//"))
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    else if (starts(rest_, "/*"))
      rest_.remove_prefix(std::min(rest_.find("*/"), rest_.size() - 2) + 2);
    else
      return;
  }
}

std::string_view statements::next() {
  skip_comments();
  if (rest_.empty()) return {};
  std::size_t end = 1;
  if (rest_[0] != '{' && rest_[0] != '}') {
    // Lines of debugging information end without a semicolon.
    if (starts(rest_, ".loc ") || starts(rest_, ".loc\t") || starts(rest_, ".file")) {
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      return next();
    }
    end = rest_.find_first_of(";:");
    while (end + 1 < rest_.size() && rest_[end] == ':' && rest_[end + 1] == ':')
      end = rest_.find_first_of(";:", end + 2);
    if (end == std::string_view::npos) throw ptx_error("software GPU: no ';' after '" + std::string(rest_) + "'");
    ++end;
  }
  const std::string_view statement = trimmed(rest_.substr(0, end));
  rest_.remove_prefix(end);
  return statement;
}

}  // namespace devplace::test::software_gpu
