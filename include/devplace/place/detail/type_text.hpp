// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace devplace::detail {

/// A type in the compiler's words.
template <class T>
std::string type_text() {
  const std::string text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  return text.substr(begin, std::min(text.find(';', begin), text.rfind(']')) - begin);
}

}  // namespace devplace::detail
