// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#include <devplace/ops/for_each.hpp>
#include <devplace/optim/detail/update_loops.hpp>

namespace devplace::optim::detail {

// The sum of squares in three passes of index functors: lane j sums elements j, j + lanes, j + 2 lanes, ..., so that
// neighbouring GPU threads and neighbouring vector lanes read neighbouring elements; then sqrt(lanes) groups sum the
// lanes; then one index sums the groups. Which thread does what changes nothing.

/// Groups of lanes: enough to fill a GPU where there is work for it.
constexpr std::size_t norm_groups(std::size_t n) {
  return n < (std::size_t{1} << 22) ? 64 : 256;
}
constexpr std::size_t norm_lanes(std::size_t n) {
  return norm_groups(n) * norm_groups(n);
}
/// Lanes that are worth a thread on the CPU: a multiple of 64 with some 32768 elements.
constexpr std::size_t norm_grain(std::size_t n) {
  const std::size_t rows = n / norm_lanes(n) + 1;
  return (32768 / rows / 64 + 1) * 64;
}

/// Each lane's own sum.
template <class T>
struct lane_squares {
  const T* values;
  std::size_t n;
  std::size_t lanes;
  double* sums;

  DEVPLACE_HD void operator()(std::size_t lane) const {
    double sum = 0;
    for (std::size_t i = lane; i < n; i += lanes) {
      const double value = static_cast<double>(values[i]);
      sum += value * value;
    }
    sums[lane] = sum;
  }

  /// The same, for a chunk of lanes whose sums stay in the first-level cache, row by row.
  void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t chunk = 1024;
    for (std::size_t first = begin; first < end; first += chunk) {
      const std::size_t count = end - first < chunk ? end - first : chunk;
      for (std::size_t lane = 0; lane < count; ++lane)
        sums[first + lane] = 0;
      for (std::size_t i = first; i < n; i += lanes)
        add_squares(sums + first, values + i, n - i < count ? n - i : count);
    }
  }
};

/// Group j sums lanes j, j + groups, ...; there are groups^2 lanes.
struct group_sums {
  const double* lanes;
  std::size_t groups;
  double* sums;

  DEVPLACE_HD void operator()(std::size_t group) const {
    double sum = 0;
    for (std::size_t i = 0; i < groups; ++i)
      sum += lanes[i * groups + group];
    sums[group] = sum;
  }
};

/// The last sum, and what clipping makes of it.
template <class T>
struct clip_result {
  const double* sums;
  std::size_t groups;
  const T* divisor;
  double max_norm;
  T* factor;
  T* norm;

  DEVPLACE_HD void operator()(std::size_t) const {
    double sum = 0;
    for (std::size_t i = 0; i < groups; ++i)
      sum += sums[i];
    const double scale = divisor == nullptr ? 1 : *divisor == T{0} ? 0 : 1 / static_cast<double>(*divisor);
    const double total = std::sqrt(sum) * (scale < 0 ? -scale : scale);
    const double wanted = max_norm / (total + 1e-6);
    *factor = static_cast<T>(wanted > 1 ? 1 : wanted);  // in this order a NaN stays
    if (norm != nullptr) *norm = static_cast<T>(total);
  }
};

}  // namespace devplace::optim::detail
