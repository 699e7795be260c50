// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <devplace/config.hpp>

namespace devplace::detail {

/// Returns the path in quotes, as in every message about a file. (Not `quoted`: ADL would find std::quoted.)
inline std::string in_quotes(std::string_view path) {
  std::string text = "'";  // not "'" + std::string(path): g++ 12 gives a false -Wrestrict warning
  text += path;
  text += '\'';
  return text;
}

/// Returns at most 40 bytes of a text from a file, with control characters replaced by ?.
inline std::string printable(std::string_view text) {
  std::string result(text.substr(0, 40));
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return text.size() > 40 ? result + "..." : result;
}

/// Formats a number of bytes: `1 byte`, `12 bytes`.
DEVPLACE_COMPILABLE() std::string bytes_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}
DEVPLACE_COMPILED(std::string bytes_text(std::uint64_t))

}  // namespace devplace::detail
