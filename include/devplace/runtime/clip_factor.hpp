// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/runtime/gradient_norm_statistics.hpp>
#include <devplace/runtime/loss_scale.hpp>

namespace devplace::op {

/// `run(ordinal, clip_numbers)` computes the norm of the gradients and the factor that reduces it to the maximum.
struct clip_factor {};

}  // namespace devplace::op

namespace devplace::runtime {

/// How many partial sums the CPU's sum of squares has: groups of lanes, and lanes (backend/cpu/clip_factor.hpp).
constexpr std::size_t norm_groups(std::size_t n) { return n < (std::size_t{1} << 22) ? 64 : 256; }
constexpr std::size_t norm_lanes(std::size_t n) { return norm_groups(n) * norm_groups(n); }

/// Computes the results of clipping from the gradients' sum of squares.
template <class T> struct clip_result {
  const T* divisor;
  double max_norm;
  T* factor;
  T* norm;
  loss_scale* scaler = nullptr;  ///< null: gradients are not scaled
  scaling_rule scaling = {};
  double unscaled = 1;  ///< gradients were multiplied by the scale and divided by this number
  gradient_norm_statistics* statistics = nullptr;  ///< null: not collected
  const T* weights = nullptr;                      ///< the sum of weights, NaN if the step is skipped; or null

  DEVPLACE_HD void operator()(double sum_of_squares) const {
    // The squares of finite floats have a finite sum in double.
    const double unscale = scaler == nullptr ? 1 : unscaled / static_cast<double>(scaler->scale);
    const double share = divisor == nullptr ? 1 : *divisor == T{0} ? 0 : 1 / static_cast<double>(*divisor);
    const double scale = share * unscale;
    const double total = std::sqrt(sum_of_squares) * (scale < 0 ? -scale : scale);
    const double wanted = max_norm / (total + 1e-6);
    const double clipped = wanted > 1 ? 1 : wanted;  // this order of operands propagates NaN
    *factor = static_cast<T>(clipped * unscale);
    if (norm != nullptr) *norm = static_cast<T>(total);
    if (weights != nullptr && *weights != *weights) return;  // the update is skipped
    if (scaler != nullptr)
      scaler->decide(scaling, devplace::detail::is_finite(sum_of_squares), devplace::detail::is_finite(*factor));
    if (statistics != nullptr) statistics->add(total);
  }
};

/// Reducer that computes the sum of squares and finally stores the results of clipping.
template <class T> struct clip_reducer {
  using squares = devplace::detail::square_sum_reducer<T>;
  using accumulator = typename squares::accumulator;
  static constexpr bool reduces_all = true;
  clip_result<T> finish;

  DEVPLACE_HD static constexpr accumulator identity() { return squares::identity(); }
  DEVPLACE_HD static constexpr void add(accumulator& a, T x, std::size_t position) { squares::add(a, x, position); }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) { squares::merge(a, b); }
  DEVPLACE_HD void store(std::size_t, accumulator sum) const { finish(sum); }
};

template <class T> struct clip_numbers {
  std::size_t n;
  const T* gradients;
  clip_result<T> result;
  double* workspace;  // norm_lanes(n) + norm_groups(n) elements
};

}  // namespace devplace::runtime

#include <devplace/backend/cpu/clip_factor.hpp>
#include DEVPLACE_BACKENDS(clip_factor)
