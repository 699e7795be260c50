// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/optim/detail/squared_norm.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, clip_numbers)`: the norm of gradients, and the factor that brings it down to the largest one allowed.
struct clip {};

}  // namespace op

namespace optim::detail {

/// What clipping makes of a sum of squares.
template <class T>
struct clip_result {
  const T* divisor;
  double max_norm;
  T* factor;
  T* norm;

  DEVPLACE_HD void operator()(double sum_of_squares) const {
    const double scale = divisor == nullptr ? 1 : *divisor == T{0} ? 0 : 1 / static_cast<double>(*divisor);
    const double total = std::sqrt(sum_of_squares) * (scale < 0 ? -scale : scale);
    const double wanted = max_norm / (total + 1e-6);
    *factor = static_cast<T>(wanted > 1 ? 1 : wanted);  // in this order a NaN stays
    if (norm != nullptr) *norm = static_cast<T>(total);
  }
};

/// The sum of squares as a reduction that ends in its result.
template <class T>
struct clip_reducer {
  using squares = devplace::detail::square_sum_reducer<T>;
  using accumulator = typename squares::accumulator;
  static constexpr bool reduces_all = true;
  clip_result<T> finish;

  DEVPLACE_HD static constexpr accumulator identity() { return squares::identity(); }
  DEVPLACE_HD static constexpr void add(accumulator& a, T x, std::size_t position) { squares::add(a, x, position); }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) { squares::merge(a, b); }
  DEVPLACE_HD void store(std::size_t, accumulator sum) const { finish(sum); }
};

template <class T>
struct clip_numbers {
  std::size_t n;
  const T* gradients;
  clip_result<T> result;
  double* workspace;  // norm_lanes(n) + norm_groups(n) numbers
};

}  // namespace optim::detail

template <>
struct implementation<backend::cpu, op::clip> {
  template <class T>
  static void run(int ordinal, const optim::detail::clip_numbers<T>& c) {
    using for_each = implementation<backend::cpu, op::for_each>;
    const std::size_t lanes = optim::detail::norm_lanes(c.n), groups = optim::detail::norm_groups(c.n);
    double* const sums = c.workspace + lanes;
    for_each::run(ordinal, lanes, optim::detail::norm_grain(c.n),
                  optim::detail::lane_squares<T>{c.gradients, c.n, lanes, c.workspace});
    for_each::run(ordinal, groups, groups, optim::detail::group_sums{c.workspace, groups, sums});
    double sum = 0;
    for (std::size_t group = 0; group < groups; ++group)
      sum += sums[group];
    c.result(sum);
  }
};

}  // namespace devplace

#include DEVPLACE_CUDA_BACKEND(clip)
