// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include <cstring>

namespace devplace::parallel::detail {

/// The processors on which this process may run; launchers bind processes to different processors. If a host has more
/// processes than processors, waiting processes yield.
inline ::cpu_set_t own_processors() noexcept {
  ::cpu_set_t processors = {};
  if (::sched_getaffinity(0, sizeof processors, &processors) != 0)
    std::memset(&processors, 0xff, sizeof processors);  // all: the host has more processors than the set can hold
  return processors;
}

}  // namespace devplace::parallel::detail
