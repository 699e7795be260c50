// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/optim/detail/adam_formula.hpp>
#include <devplace/optim/detail/update_by_formula.hpp>

namespace devplace::optim {

/// Hyperparameters of AdamW (Loshchilov and Hutter 2019) with the arithmetic of torch.optim.AdamW: Adam with decoupled
/// weight decay, which multiplies the parameters by 1 - learning_rate * weight_decay before each step.
struct adamw {
  double learning_rate = 1e-3;  ///< step size
  double beta1 = 0.9;           ///< decay rate of the first moment
  double beta2 = 0.999;         ///< decay rate of the second moment
  double epsilon = 1e-8;        ///< added to the square root of the second moment
  double weight_decay = 1e-2;   ///< decoupled: multiplied by learning_rate

  /// Members that optimizer_rule names. The two arenas have the first moments m and the second moments v.
  ///@{
  static constexpr std::size_t state_arenas = 2;
  static constexpr bool takes_groups = true, skips_steps = true;
  static constexpr const char* name = "adamw";

  static void for_each_option(auto& self, auto&& f) { detail::for_each_option_of_adam(self, f); }

  template <class Backend, class Arguments> void step(const Arguments& arguments) const {
    const detail::adam_formula formula{learning_rate, beta1, beta2, epsilon, 0, weight_decay};
    detail::update_by_formula<state_arenas, Backend>(formula, arguments);
  }
  ///@}
};

}  // namespace devplace::optim
