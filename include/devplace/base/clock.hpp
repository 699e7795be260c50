// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <time.h>

namespace devplace::detail {

/// Returns the seconds of a monotonic clock that stops while the machine is suspended. <chrono> would include <sstream>
/// in every program.
inline double monotonic_seconds() noexcept {
  ::timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace devplace::detail
