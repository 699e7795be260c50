// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace devplace::detail {

/// Prints why a device failed, at the program's exit, when exceptions are no longer caught.
inline void write_failure_at_exit(const std::string& place, std::string_view why) {
  constexpr std::string_view prefix = "devplace: ";
  if (why.starts_with(prefix)) why.remove_prefix(prefix.size());
  std::fprintf(stderr, "devplace: %s failed, and the program ended without reading a loss or waiting: %.*s\n",
               place.c_str(), static_cast<int>(why.size()), why.data());
}

}  // namespace devplace::detail
