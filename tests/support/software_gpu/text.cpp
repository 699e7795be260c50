// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "support/software_gpu/program.hpp"

// Reads the parts of a statement of PTX.

namespace devplace::test::software_gpu {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t k = 0; k <= text.size(); ++k) {
    const char c = k < text.size() ? text[k] : separator;
    depth += c == '{' || c == '[' || c == '(' ? 1 : (c == '}' || c == ']' || c == ')' ? -1 : 0);
    if (c != separator || (depth != 0 && k < text.size())) continue;
    if (const auto part = trimmed(text.substr(begin, k - begin)); !part.empty()) parts.push_back(part);
    begin = k + 1;
  }
  return parts;
}

std::optional<u64> number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0f") || text.starts_with("0d")) text.remove_prefix(2), base = 16;
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return negative ? 0 - value : value;
}

u8 size_of_type(std::string_view type) {
  const std::size_t digits = std::min(type.find_first_of("0123456789"), type.size());
  const std::string_view kind = type.substr(0, digits);
  const bool known = kind == "b" || kind == "u" || kind == "s" || kind == "f";
  return known ? static_cast<u8>(number(type.substr(digits)).value_or(0) / 8) : u8{0};
}

declaration declared(std::string_view text) {
  declaration result;
  const auto words = split(text, ' ');
  for (std::size_t k = 0; k + 1 < words.size(); ++k) {
    if (words[k] == ".align") result.alignment = number(words[k + 1]).value_or(1);
    result.element = std::max(result.element, size_of_type(words[k].substr(1)));
  }
  const std::string_view name = words.back();
  const std::size_t bracket = std::min(name.find('['), name.size());
  const auto extent = bracket == name.size() ? 1 : number(name.substr(bracket + 1, name.size() - bracket - 2));
  result.name = name.substr(0, bracket), result.any_size = !extent;
  result.alignment = std::max<u64>(result.alignment, result.element);
  result.bytes = result.element * extent.value_or(0);
  return result;
}

}  // namespace devplace::test::software_gpu
