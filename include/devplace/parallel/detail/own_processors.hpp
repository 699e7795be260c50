// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include <cstring>

namespace devplace::parallel::detail {

/// The processors on which this process may run: launchers bind each process to others. Processes of a host that are
/// more than the processors of all of them wait for each other in other ways.
inline ::cpu_set_t own_processors() noexcept {
  ::cpu_set_t processors = {};
  if (::sched_getaffinity(0, sizeof processors, &processors) != 0)
    std::memset(&processors, 0xff, sizeof processors);  // more than fit in
  return processors;
}

}  // namespace devplace::parallel::detail
