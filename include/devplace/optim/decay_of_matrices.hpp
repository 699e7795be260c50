// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/optim/optimizer_concept.hpp>

namespace devplace::optim {

/// Restricts a rule's weight decay to parameters with two axes or more: to weights, without biases and factors of
/// normalisations: `trainer step{model, loss, optim::decay_of_matrices{optim::adamw{...}}}`. Inherits the rule's
/// members: `step.optimizer().rule().learning_rate = x`.
template <optimizer_rule Rule> struct decay_of_matrices : Rule {
  /// Whether the rule has a weight decay; named in the error message.
  static constexpr bool has_decay = requires(Rule rule) { rule.weight_decay = 0.1; };
  static_assert(has_decay, "devplace: decay_of_matrices: the rule has no weight_decay; use the rule itself.");
  /// Tells optimizers which parameters decay.
  static constexpr bool decays_matrices_alone = true;

  /// Copies the rule with its hyperparameters.
  constexpr explicit decay_of_matrices(const Rule& rule = {}) : Rule(rule) {}

  /// Lists the hyperparameters; see optimizer_rule.
  static void for_each_option(auto& self, auto&& f) {
    Rule::for_each_option(self, f);
    f("decays_matrices_alone", true);
  }
};

}  // namespace devplace::optim
