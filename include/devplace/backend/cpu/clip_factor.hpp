// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/instruction_sets.hpp>
#include <devplace/base/parallel_ranges.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/runtime/clip_factor.hpp>

namespace devplace {

namespace detail {

// The CPU computes the sum of squares in three passes of index functors. First, lane j sums elements j, j + lanes, j +
// 2 lanes, ..., so that adjacent vector lanes read adjacent elements. Then sqrt(lanes) groups sum the lanes, and then
// the groups are summed. The result does not depend on the distribution over threads.

/// Returns the minimum number of lanes per thread: a multiple of 64 with about 32768 elements.
constexpr std::size_t norm_grain(std::size_t n) {
  const std::size_t rows = n / runtime::norm_lanes(n) + 1;
  return (32768 / rows / 64 + 1) * 64;
}

/// Sums a chunk of lanes row by row, so that the sums stay in the first-level cache.
template <class T> struct lane_squares {
  const T* values;
  std::size_t n;
  std::size_t lanes;
  double* sums;

  void operator()(std::size_t begin, std::size_t end) const {
    constexpr std::size_t chunk = 1024;
    for (std::size_t first = begin; first < end; first += chunk) {
      const std::size_t count = end - first < chunk ? end - first : chunk;
      for (std::size_t lane = 0; lane < count; ++lane) sums[first + lane] = 0;
      for (std::size_t i = first; i < n; i += lanes)
        with_instruction_set(
            [&](auto code) { code.add_squares(sums + first, values + i, n - i < count ? n - i : count); });
    }
  }
};

/// Group j sums lanes j, j + groups, ...; there are groups^2 lanes.
struct group_sums {
  const double* lanes;
  std::size_t groups;
  double* sums;

  void operator()(std::size_t group) const {
    double sum = 0;
    for (std::size_t i = 0; i < groups; ++i) sum += lanes[i * groups + group];
    sums[group] = sum;
  }
};

}  // namespace detail

template <> struct implementation<backend::cpu, op::clip_factor> {
  template <class T> static void run(int ordinal, const runtime::clip_numbers<T>& c) {
    using for_each = implementation<backend::cpu, op::for_each>;
    const std::size_t lanes = runtime::norm_lanes(c.n), groups = runtime::norm_groups(c.n);
    double* const sums = c.workspace + lanes;
    const detail::lane_squares<T> squares{c.gradients, c.n, lanes, c.workspace};
    detail::parallel_ranges(lanes, detail::norm_grain(c.n), squares);
    for_each::run(ordinal, groups, groups, detail::group_sums{c.workspace, groups, sums});
    double sum = 0;
    for (std::size_t group = 0; group < groups; ++group) sum += sums[group];
    c.result(sum);
  }
};

}  // namespace devplace
