// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/option_range.hpp>

namespace devplace::optim::detail {

/// Returns base^exponent within `exponent` ulp, by multiplications alone, so that every place gets the same bits in few
/// instructions.
DEVPLACE_HD inline double power_by_products(double base, std::int64_t exponent) {
  double result = 1;
  for (auto left = static_cast<std::uint64_t>(exponent); left != 0; left /= 2, base *= base)
    if (left % 2 != 0) result *= base;
  return result;
}

/// The factors of one step of Adam or AdamW, and the formula. Its terms have the order of torch.optim.Adam, so that
/// results agree up to rounding: denominator = sqrt(v) / sqrt(1 - beta2^t) + epsilon, step = learning_rate / (1 -
/// beta1^t).
template <class T> struct adam_factors {
  T beta1, rest1;  ///< rest1 = 1 - beta1, rounded from double
  T beta2, rest2;
  T kept;        ///< factor of the parameter before the step: 1 - learning_rate * weight_decay in AdamW
  T l2;          ///< weight decay added to the gradient, in Adam
  T step_size;   ///< learning_rate / (1 - beta1^t)
  T root_scale;  ///< 1 / sqrt(1 - beta2^t)
  T epsilon;

  template <class Arithmetic, class V>
  [[gnu::always_inline]] DEVPLACE_HD void operator()(const Arithmetic& with, const V& raw, V& parameter, V& first,
                                                     V& second) const {
    const V gradient = raw * with.factor + l2 * parameter;
    first = beta1 * first + rest1 * gradient;
    second = beta2 * second + rest2 * gradient * gradient;
    V root = second;
    with.take_root(root);
    const V denominator = root * root_scale + epsilon;
    parameter = parameter * kept - step_size * first / denominator;
  }
};

/// Hyperparameters of Adam and AdamW. Weight decay either is added to the gradient or acts on the parameter (Loshchilov
/// and Hutter 2019); the unused decay is 0.
struct adam_formula {
  double learning_rate, beta1, beta2, epsilon, decay_of_gradient, decay_of_parameter;

  friend bool operator==(const adam_formula&, const adam_formula&) = default;

  template <class T> using factors = adam_factors<T>;

  void scale(const option_factors& by) {
    learning_rate *= by.learning_rate;
    decay_of_gradient *= by.weight_decay;
    decay_of_parameter *= by.weight_decay;
  }

  /// Computes bias corrections in double. Stores each factor at once, to save a GPU's registers.
  template <class T> DEVPLACE_HD void set(adam_factors<T>& to, std::int64_t t) const {
    to.beta1 = static_cast<T>(beta1);
    to.rest1 = static_cast<T>(1 - beta1);
    to.beta2 = static_cast<T>(beta2);
    to.rest2 = static_cast<T>(1 - beta2);
    to.kept = static_cast<T>(1 - learning_rate * decay_of_parameter);
    to.l2 = static_cast<T>(decay_of_gradient);
    to.epsilon = static_cast<T>(epsilon);
    to.step_size = static_cast<T>(learning_rate / (1 - power_by_products(beta1, t)));
    to.root_scale = static_cast<T>(1 / std::sqrt(1 - power_by_products(beta2, t)));
  }
};

void for_each_option_of_adam(auto& rule, auto&& f) {
  f("learning_rate", rule.learning_rate, not_negative);
  f("beta1", rule.beta1, decay_rate);
  f("beta2", rule.beta2, decay_rate);
  f("epsilon", rule.epsilon, not_negative);
  f("weight_decay", rule.weight_decay, not_negative);
}

}  // namespace devplace::optim::detail
