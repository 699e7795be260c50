// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/optim/detail/adam_step.hpp>
#include <devplace/optim/optimizer_concept.hpp>

namespace devplace::optim {

/// Hyperparameters of AdamW (Loshchilov and Hutter 2019) in the arithmetic of torch.optim.AdamW: Adam whose weight
/// decay does not pass through the gradient; before each step parameters are multiplied by 1 - learning_rate *
/// weight_decay.
struct adamw {
  double learning_rate = 1e-3;  ///< step size
  double beta1 = 0.9;           ///< share of the first moment that is kept
  double beta2 = 0.999;         ///< share of the second moment that is kept
  double epsilon = 1e-8;        ///< added to the root of the second moment
  double weight_decay = 1e-2;   ///< parameters lose learning_rate times this of themselves in each step

  /// The first moments m and the second moments v.
  static constexpr std::size_t state_arenas = 2;

  /// Throws argument_error for a negative or infinite number and for a beta that is not in [0, 1).
  void validate() const { detail::validate_adam(*this, "adamw"); }

  /// One update; see optimizer_rule.
  template <class Backend, class T>
  void step(const step_arguments<T>& arguments) const {
    detail::adam_step<Backend>({learning_rate, beta1, beta2, epsilon, 0, weight_decay}, arguments);
  }
};

}  // namespace devplace::optim
