// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace devplace::detail {

inline std::string host_name() {
  char text[256] = {};
  ::gethostname(text, sizeof text - 1);
  return text;
}

/// The boot id, a random number that Linux chooses when it starts; empty without /proc. Containers of a host have the
/// same boot id.
inline std::string boot_id() {
  char text[64] = {};
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    static_cast<void>(!std::fgets(text, sizeof text, file));
    std::fclose(file);
  }
  return text;
}

/// The processors on which this process may run; launchers bind processes to different processors. If a host has more
/// processes than processors, waiting processes yield.
inline ::cpu_set_t own_processors() noexcept {
  ::cpu_set_t processors = {};
  if (::sched_getaffinity(0, sizeof processors, &processors) != 0)
    std::memset(&processors, 0xff, sizeof processors);  // all: the host has more processors than the set can hold
  return processors;
}

}  // namespace devplace::detail
