// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>

namespace devplace::nn {

/// The initialisation of a parameter: a constant or independent draws from a distribution. A constexpr value in layers'
/// parameter tables, made by the factories in `nn::init`.
struct initialization {
  /// The distribution of the elements; `missing` marks a parameter without an initialisation, which is an error.
  enum class distribution : unsigned char { constant, uniform, normal, missing };

  distribution kind = distribution::constant;  ///< the distribution
  double center = 0;                           ///< the constant, the interval's middle, or the mean
  double spread = 0;                           ///< half the interval's length, or the standard deviation
  std::size_t first_zero = 0;                  ///< first element of a range of zeros
  std::size_t zeros = 0;                       ///< number of elements in this range

  /// Whether both are equal.
  friend constexpr bool operator==(const initialization&, const initialization&) = default;
};

namespace detail {

/// A constexpr sqrt for x >= 0: Newton's method from above, until the value no longer decreases.
constexpr double constant_sqrt(double x) {
  if (x == 0) return 0;
  double root = x < 1 ? 1 : x;
  for (double next = (root + x / root) / 2; next < root; next = (root + x / root) / 2) root = next;
  return root;
}

}  // namespace detail

/// Initialisations with the names and formulas of torch.nn.init.
namespace init {

/// Every element is `value`.
constexpr initialization constant(double value) { return {initialization::distribution::constant, value, 0}; }
/// Every element is 0.
constexpr initialization zeros() { return constant(0); }
/// Every element is 1.
constexpr initialization ones() { return constant(1); }

/// Uniform from `low` to `high`, computed in double and rounded to the parameter's type: both bounds are possible.
constexpr initialization uniform(double low, double high) {
  return {initialization::distribution::uniform, (low + high) / 2, (high - low) / 2};
}
/// Uniform from -bound to bound.
constexpr initialization uniform(double bound) { return uniform(-bound, bound); }

/// Normally distributed.
constexpr initialization normal(double mean, double standard_deviation) {
  return {initialization::distribution::normal, mean, standard_deviation};
}

/// Uniform in [-1, 1] / sqrt(fan_in): the default of torch.nn.Linear and Conv for weights and biases (PyTorch's
/// kaiming_uniform with a = sqrt(5) for weights).
constexpr initialization fan_in_uniform(std::size_t fan_in) {
  return uniform(1 / detail::constant_sqrt(static_cast<double>(fan_in)));
}

/// He et al. 2015, for layers before a (leaky) relu with negative slope `a`: variance 2 / ((1 + a^2) fan_in), uniform
/// or normal.
///@{
constexpr initialization kaiming_uniform(std::size_t fan_in, double a = 0) {
  return uniform(detail::constant_sqrt(6 / ((1 + a * a) * static_cast<double>(fan_in))));
}
constexpr initialization kaiming_normal(std::size_t fan_in, double a = 0) {
  return normal(0, detail::constant_sqrt(2 / ((1 + a * a) * static_cast<double>(fan_in))));
}
///@}

/// Glorot and Bengio 2010: variance 2 gain^2 / (fan_in + fan_out), uniform or normal.
///@{
constexpr initialization xavier_uniform(std::size_t fan_in, std::size_t fan_out, double gain = 1) {
  return uniform(gain * detail::constant_sqrt(6 / static_cast<double>(fan_in + fan_out)));
}
constexpr initialization xavier_normal(std::size_t fan_in, std::size_t fan_out, double gain = 1) {
  return normal(0, gain * detail::constant_sqrt(2 / static_cast<double>(fan_in + fan_out)));
}
///@}

/// Returns the initialisation `of_others`, but with 0 for the `count` elements that begin with element `first`.
constexpr initialization with_zeros(initialization of_others, std::size_t first, std::size_t count) {
  of_others.first_zero = first;
  of_others.zeros = count;
  return of_others;
}

}  // namespace init
}  // namespace devplace::nn
