// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace devplace::bench {

/// Returns the time in seconds of a monotonic clock.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the median of measurements, which is robust against a few disturbances.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Returns the seconds per call: the mean over about `seconds`, after two warm-up calls.
template <class Call> double time_of(const Call& call, double seconds = 0.05) {
  call();
  call();
  std::size_t calls = 0;
  const double begin = now();
  do {
    call();
    ++calls;
  } while (now() - begin < seconds);
  return (now() - begin) / static_cast<double>(calls);
}

/// Returns the seconds of the first call.
template <class Call> double once(const Call& call) {
  const double begin = now();
  call();
  return now() - begin;
}

/// Returns a quantile, from 0 to 1, of the seconds of single calls over about 200 ms, after two warm-up calls.
template <class Call> double quantile_of(double quantile, const Call& call) {
  call();
  call();
  std::vector<double> seconds;
  const double begin = now();
  double last = begin;
  while (last - begin < 0.2) {
    call();
    const double time = now();
    seconds.push_back(time - last);
    last = time;
  }
  const auto place = seconds.begin() + static_cast<std::ptrdiff_t>(quantile * static_cast<double>(seconds.size() - 1));
  std::nth_element(seconds.begin(), place, seconds.end());
  return *place;
}

}  // namespace devplace::bench
