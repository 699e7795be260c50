// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/optim/detail/record_of_steps.hpp>
#include <devplace/optim/detail/validation.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/runtime/update.hpp>

namespace devplace::optim::detail {

template <class Backend, class T>
void adam_step(const runtime::adam_hyper& hyper, const step_arguments<T>& a) {
  runtime::run_update<Backend>(a.ordinal, a.n,
                               runtime::adam_update<T>{{a.gradients, a.divisor, a.gradient_factor},
                                                       a.parameters,
                                                       a.state[0],
                                                       a.state[1],
                                                       record_of_steps<Backend>(a, hyper)});
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
