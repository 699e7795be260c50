// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace devplace::detail {

/// Unifies the type names of g++ and clang, so that programs of both compilers can compare them.
inline std::string portable_type_text(std::string text) {
  for (std::size_t at; (at = text.find("> >")) != text.npos;) text.erase(at + 1, 1);
  constexpr std::string_view anonymous = "{anonymous}";
  for (std::size_t at; (at = text.find(anonymous)) != text.npos;)
    text.replace(at, anonymous.size(), "(anonymous namespace)");
  return text;
}

/// Returns the type in a text of __PRETTY_FUNCTION__ after `parameter`, the only template parameter: "T = ".
inline std::string_view type_in(std::string_view text, std::string_view parameter) {
  if (const std::size_t at = text.find(parameter); at != text.npos) text.remove_prefix(at + parameter.size());
  return text.substr(0, text.rfind(']'));
}

template <class T> std::string type_text() {
  const std::string text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  return portable_type_text(text.substr(begin, std::min(text.find(';', begin), text.rfind(']')) - begin));
}

}  // namespace devplace::detail
