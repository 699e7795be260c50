// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>
#include <system_error>

#include <devplace/base/parse_number.hpp>

namespace devplace::detail {

/// Parses all of `text` as a number from 0 to the largest int; returns -1 for other texts.
inline int whole_number(std::string_view text) {
  int value = -1;
  return parse_number(text, value) == std::errc{} && value >= 0 ? value : -1;
}

}  // namespace devplace::detail
