// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace devplace::bench {

/// Time in seconds of a monotonic clock.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The median of measurements, which is robust against a few disturbances.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Seconds per call, the mean over about 50 ms, after two calls that are not counted.
template <class Call>
double time_of(const Call& call) {
  call();
  call();
  std::size_t calls = 0;
  const double begin = now();
  do {
    call();
    ++calls;
  } while (now() - begin < 0.05);
  return (now() - begin) / static_cast<double>(calls);
}

}  // namespace devplace::bench
