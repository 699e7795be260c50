// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <time.h>

#include <cstdint>

namespace devplace::detail {

/// Returns the nanoseconds of a monotonic clock that stops while the machine is suspended. Does not use <chrono>, which
/// would include <sstream> in every program.
inline std::int64_t monotonic_nanoseconds() noexcept {
  ::timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

inline double monotonic_seconds() noexcept { return 1e-9 * static_cast<double>(monotonic_nanoseconds()); }

}  // namespace devplace::detail
