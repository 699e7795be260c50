// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace devplace::detail {

inline std::string host_name() {
  char text[256] = {};
  ::gethostname(text, sizeof text - 1);
  return text;
}

/// The random number that Linux chooses when it starts, equal in a host's containers; empty without /proc.
inline std::string boot_id() {
  char text[64] = {};
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    static_cast<void>(!std::fgets(text, sizeof text, file));
    std::fclose(file);
  }
  return text;
}

}  // namespace devplace::detail
