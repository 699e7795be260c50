// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>

#include <devplace/optim/option_range.hpp>
#include <devplace/optim/sgd.hpp>

namespace devplace::optim {

/// Hyperparameters of stochastic gradient descent without momentum, which has no state and so no arenas:
/// `plain_sgd{.learning_rate = 0.1}`. Its steps have the bits of sgd's with momentum 0, and trainings with it continue
/// from checkpoints of those.
struct plain_sgd {
  double learning_rate = 1e-3;  ///< step size
  double weight_decay = 0;      ///< L2 penalty: its product with the parameter is added to the gradient

  /// Members that optimizer_rule names.
  ///@{
  static constexpr std::size_t state_arenas = 0;
  static constexpr bool takes_groups = true, skips_steps = true;
  static constexpr const char* name = "plain_sgd";
  static void for_each_option(auto& self, auto&& f) {
    f("learning_rate", self.learning_rate, not_negative);
    f("weight_decay", self.weight_decay, not_negative);
  }
  template <class Backend, class Arguments> void step(const Arguments& arguments) const {
    detail::update_by_formula<0, Backend>(detail::sgd_formula{learning_rate, 0, 0, weight_decay, 0, 0}, arguments);
  }
  ///@}

  /// The rule whose checkpoints this one continues, and its hyperparameters as these; none if it has momentum.
  ///@{
  using continued_rule = sgd;
  static std::optional<plain_sgd> continuing(const sgd& rule) {
    if (rule.momentum != 0) return std::nullopt;
    return plain_sgd{rule.learning_rate, rule.weight_decay};
  }
  ///@}

  /// Whether all hyperparameters are equal.
  friend bool operator==(const plain_sgd&, const plain_sgd&) = default;
};

}  // namespace devplace::optim
