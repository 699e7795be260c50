// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/optim/detail/record_of_steps.hpp>
#include <devplace/optim/detail/validation.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/runtime/update.hpp>

namespace devplace::optim {

/// Hyperparameters of stochastic gradient descent with momentum, with the arithmetic of torch.optim.SGD:
/// `sgd{.learning_rate = 0.1, .momentum = 0.9}`. Let g be the gradient plus weight_decay times the parameter and b =
/// momentum b + (1 - dampening) g, in the first step b = g; a step subtracts learning_rate times b from the parameter,
/// or learning_rate times g + momentum b with Nesterov's momentum.
struct sgd {
  double learning_rate = 1e-3;  ///< step size
  double momentum = 0;          ///< decay rate of the momentum
  double dampening = 0;         ///< reduces the gradient's share in the momentum
  double weight_decay = 0;      ///< L2 penalty: added to the gradient, times the parameter
  bool nesterov = false;        ///< Nesterov's momentum; needs momentum above 0 and no dampening

  /// The momenta. Allocated even if momentum is 0, so that memory does not depend on a run-time value; they are not
  /// accessed then.
  static constexpr std::size_t state_arenas = 1;

  /// Throws argument_error for a negative value, and for Nesterov's momentum without momentum or with dampening.
  void validate() const {
    detail::require_not_negative(learning_rate, "sgd", "learning_rate");
    detail::require_not_negative(momentum, "sgd", "momentum");
    detail::require_not_negative(dampening, "sgd", "dampening");
    detail::require_not_negative(weight_decay, "sgd", "weight_decay");
    if (nesterov && (momentum <= 0 || dampening != 0))
      throw argument_error(
          "sgd: nesterov needs a momentum above 0 and a dampening of 0; set .momentum (0.9 is usual) and leave "
          ".dampening out.");
  }

  /// One update; see optimizer_rule.
  template <class Backend, class T>
  void step(const step_arguments<T>& a) const {
    const runtime::sgd_hyper hyper{learning_rate, momentum, dampening, weight_decay, nesterov};
    const runtime::gradient_source<T> source{a.gradients, a.divisor, a.gradient_factor};
    auto* const steps = detail::record_of_steps<Backend>(a, hyper);
    if (momentum != 0)
      runtime::run_update<Backend>(a.ordinal, a.n,
                                   runtime::sgd_update<T, true>{source, a.parameters, a.state[0], steps});
    else
      runtime::run_update<Backend>(a.ordinal, a.n, runtime::sgd_update<T, false>{source, a.parameters, nullptr, steps});
  }
};

}  // namespace devplace::optim
