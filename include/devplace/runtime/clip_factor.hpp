// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/runtime/exact_squares.hpp>
#include <devplace/runtime/gradient_norm_statistics.hpp>
#include <devplace/runtime/loss_scale.hpp>

namespace devplace::op {

/// `run(ordinal, gradient_squares)` adds the squares of gradients, and may compute the results of clipping from them.
struct clip_factor {};

}  // namespace devplace::op

namespace devplace::runtime {

/// Number of integers from which a norm is computed: the bits of the largest magnitude, and two digits of the sum of
/// squares. For gradients on several places, the maximum of the bits and the sums of the digits give the whole norm.
inline constexpr std::size_t norm_integers = 3;
DEVPLACE_HD inline square_sum stored_digits(const std::int64_t* integers) {
  return {static_cast<std::uint64_t>(integers[1]), static_cast<std::uint64_t>(integers[2])};
}

/// Computes the results of clipping from the integers of the norm.
template <class T> struct clip_result {
  const T* divisor = nullptr;
  double max_norm = 0;
  T* factor = nullptr;
  T* norm = nullptr;
  loss_scale* scaler = nullptr;  ///< null: gradients are not scaled
  scaling_rule scaling = {};
  double unscaled = 1;  ///< gradients were multiplied by the scale and divided by this number
  gradient_norm_statistics* statistics = nullptr;  ///< null: not collected
  const T* weights = nullptr;                      ///< the sum of weights, NaN if the step is skipped; or null

  DEVPLACE_HD void operator()(const std::int64_t* integers) const {
    const double root = exact_squares<T>::root(integers[0], stored_digits(integers));
    const double unscale = scaler == nullptr ? 1 : unscaled / static_cast<double>(scaler->scale);
    const double share = divisor == nullptr ? 1 : *divisor == T{0} ? 0 : 1 / static_cast<double>(*divisor);
    const double scale = share * unscale;
    const double total = root * (scale < 0 ? -scale : scale);
    const double wanted = max_norm / (total + 1e-6);
    const double clipped = wanted > 1 ? 1 : wanted;  // this order of operands propagates NaN
    *factor = static_cast<T>(clipped * unscale);
    if (norm != nullptr) *norm = static_cast<T>(total);
    if (weights != nullptr && *weights != *weights) return;  // the update is skipped
    if (scaler != nullptr)
      scaler->decide(scaling, devplace::detail::is_finite(root), devplace::detail::is_finite(*factor));
    if (statistics != nullptr) statistics->add(total);
  }
};

/// The second reduction of a norm, see add_squares(), and its reducer.
template <class T> struct gradient_squares {
  using accumulator = square_sum;
  static constexpr bool reduces_all = true;
  static constexpr unsigned least_blocks = 1;  // see backend/cuda/kernels/reduce.hpp
  std::size_t n;
  const T* gradients;
  std::int64_t* integers;  ///< norm_integers elements
  bool adds;
  clip_result<T> result;

  DEVPLACE_HD static constexpr accumulator identity() { return {}; }
  DEVPLACE_HD static constexpr void add(accumulator& a, const square_sum& square, std::size_t) {
    a.high += square.high;
    a.low += square.low;
  }
  DEVPLACE_HD static constexpr void merge(accumulator& a, const accumulator& b) { a.add(b); }
  DEVPLACE_HD void store(std::size_t, accumulator sum) const {
    if (!devplace::detail::is_finite(exact_squares<T>::number(integers[0]))) sum = {};  // digits without meaning
    sum.add(adds ? stored_digits(integers) : square_sum{});
    integers[1] = static_cast<std::int64_t>(sum.high);
    integers[2] = static_cast<std::int64_t>(sum.low);
    if (result.factor != nullptr) result(integers);
  }
};

/// Finds the largest magnitude of `n` gradients. `merges`: or of these and the gradients of earlier calls.
template <class Backend, class T>
void find_largest(int ordinal, std::size_t n, const T* gradients, std::int64_t* integers, bool merges = false) {
  using source = devplace::detail::element_source<T>;
  using plan = devplace::detail::reduction_plan<source, magnitude_reducer<T>>;
  devplace::detail::reduce<Backend>(ordinal, plan{1, n, 1, {gradients}, {integers, merges}});
}

/// Stores the digits of the sum of squares of `n` gradients, or adds them to the stored ones (`adds`). The first
/// integer is the largest magnitude of all gradients of the norm. Then computes a `result` that has a factor.
template <class Backend, class T>
void add_squares(int ordinal, std::size_t n, const T* gradients, std::int64_t* integers, bool adds,
                 const clip_result<T>& result = {}) {
  devplace::detail::dispatch<op::clip_factor, Backend>(ordinal,
                                                       gradient_squares<T>{n, gradients, integers, adds, result});
}

}  // namespace devplace::runtime

#include <devplace/backend/cpu/clip_factor.hpp>
#include DEVPLACE_BACKENDS(clip_factor)
