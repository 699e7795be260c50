// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <devplace/base/error.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

/// Returns the path in quotes, as in every message about a file. (Not `quoted`: ADL would find std::quoted.)
inline std::string in_quotes(std::string_view path) { return joined({"'", path, "'"}); }

/// Throws file_error with the operation, the file's name in quotes and what was found in the file.
DEVPLACE_COMPILABLE([[noreturn]])
void fail_file(std::string_view operation, std::string_view name, std::initializer_list<text_part> found) {
  throw file_error({operation, ": '", name, "' ", joined(found)});
}
DEVPLACE_COMPILED(void fail_file(std::string_view, std::string_view, std::initializer_list<text_part>))

/// Names for messages: the reading function, and the file or the file and its member.
struct file_origin {
  std::string_view operation, name;
};

[[noreturn]] inline void fail_read(const file_origin& from, std::initializer_list<text_part> found) {
  fail_file(from.operation, from.name, found);
}

/// Returns at most 40 bytes of a text from a file, with control characters replaced by ?.
inline std::string printable(std::string_view text) {
  std::string result(text.substr(0, 40));
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return text.size() > 40 ? result + "..." : result;
}

/// Returns the word behind a number of bytes: `{count, byte_word(count)}` is `1 byte` or `12 bytes`.
constexpr const char* byte_word(std::uint64_t count) { return count == 1 ? " byte" : " bytes"; }

}  // namespace devplace::detail
