// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>

#include <devplace/optim/detail/run_update.hpp>
#include <devplace/optim/detail/validation.hpp>
#include <devplace/optim/optimizer_concept.hpp>

namespace devplace::optim::detail {

/// How weight decay acts: as a summand of the gradient, or on the parameter itself (Loshchilov and Hutter 2019).
enum class weight_decay_form : unsigned char { l2, decoupled };

/// One update of Adam or AdamW, whose hyperparameters have the same names. Bias corrections are computed here, in
/// double, and travel as numbers.
template <weight_decay_form Form, class Backend, class Tu, class Rule, class T>
void adam_step(const Rule& rule, const step_arguments<T>& a) {
  const double t = static_cast<double>(a.step);
  const double correction1 = 1 - std::pow(rule.beta1, t);
  const double correction2 = 1 - std::pow(rule.beta2, t);
  constexpr bool decoupled = Form == weight_decay_form::decoupled;
  const adam_numbers<T> numbers{.source = {a.gradients, a.divisor, a.gradient_factor},
                                .parameters = a.parameters,
                                .first_moments = a.state[0],
                                .second_moments = a.state[1],
                                .beta1 = static_cast<T>(rule.beta1),
                                .rest1 = static_cast<T>(1 - rule.beta1),
                                .beta2 = static_cast<T>(rule.beta2),
                                .rest2 = static_cast<T>(1 - rule.beta2),
                                .kept = decoupled ? static_cast<T>(1 - rule.learning_rate * rule.weight_decay) : T{1},
                                .l2 = decoupled ? T{0} : static_cast<T>(rule.weight_decay),
                                .step_size = static_cast<T>(rule.learning_rate / correction1),
                                .root_scale = static_cast<T>(1 / std::sqrt(correction2)),
                                .epsilon = static_cast<T>(rule.epsilon)};
  run_update<Backend, Tu>(a.ordinal, a.n, numbers);
}

template <class Rule>
void validate_adam(const Rule& rule, const char* name) {
  require_not_negative(rule.learning_rate, name, "learning_rate");
  require_decay_rate(rule.beta1, name, "beta1");
  require_decay_rate(rule.beta2, name, "beta2");
  require_not_negative(rule.epsilon, name, "epsilon");
  require_not_negative(rule.weight_decay, name, "weight_decay");
}

}  // namespace devplace::optim::detail
