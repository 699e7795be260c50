// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/base/error.hpp>
#include <devplace/optim/detail/update_by_formula.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/option_range.hpp>

namespace devplace::optim {

namespace detail {

/// The factors of one step of stochastic gradient descent, and the formula, with a momentum or none.
template <class T> struct sgd_factors {
  T l2;        ///< weight decay added to the gradient
  T kept;      ///< factor of the old momentum
  T added;     ///< factor of the gradient in the momentum: 1 - dampening; 1 in the first step with momentum
  T direct;    ///< factor of the gradient in the step: 1 with Nesterov's momentum, otherwise 0
  T inertial;  ///< factor of the momentum in the step
  T learning_rate;

  template <class Arithmetic, class V, class... Momentum>
  [[gnu::always_inline]] DEVPLACE_HD void operator()(const Arithmetic& with, const V& raw, V& parameter,
                                                     Momentum&... momentum) const {
    V direction = raw * with.factor + l2 * parameter;
    ((momentum = kept * momentum + added * direction, direction = direct * direction + inertial * momentum), ...);
    parameter = parameter - learning_rate * direction;
  }
};

/// The hyperparameters that are sent to a place. Has no padding, since checkpoints keep its bytes.
struct sgd_formula {
  double learning_rate, momentum, dampening, weight_decay;
  std::int64_t nesterov;  ///< 0 or 1
  std::int64_t first;     ///< number of the first step with momentum; 0: no such step so far

  friend bool operator==(const sgd_formula&, const sgd_formula&) = default;

  template <class T> using factors = sgd_factors<T>;

  void scale(const option_factors& by) {
    learning_rate *= by.learning_rate;
    weight_decay *= by.weight_decay;
  }

  /// Sets the factors of step `t`; the first step with momentum has no old momentum.
  template <class T> DEVPLACE_HD void set(sgd_factors<T>& to, std::int64_t t) const {
    to.l2 = static_cast<T>(weight_decay);
    to.kept = t <= first ? T{0} : static_cast<T>(momentum);
    to.added = t <= first ? T{1} : static_cast<T>(1 - dampening);
    to.direct = nesterov != 0 ? T{1} : T{0};
    to.inertial = nesterov != 0 ? static_cast<T>(momentum) : T{1};
    to.learning_rate = static_cast<T>(learning_rate);
  }
};

}  // namespace detail

/// Hyperparameters of stochastic gradient descent with momentum, with the arithmetic of torch.optim.SGD:
/// `sgd{.learning_rate = 0.1, .momentum = 0.9}`. Let g be the gradient plus weight_decay times the parameter and b =
/// momentum b + (1 - dampening) g, or b = g in the first step with momentum. A step subtracts learning_rate times b
/// from the parameter, or, with Nesterov's momentum, learning_rate times (g + momentum b).
struct sgd {
  double learning_rate = 1e-3;  ///< step size
  double momentum = 0;          ///< decay rate of the momentum
  double dampening = 0;         ///< reduces the gradient's share in the momentum
  double weight_decay = 0;      ///< L2 penalty: its product with the parameter is added to the gradient
  bool nesterov = false;        ///< Nesterov's momentum; needs momentum above 0 and no dampening

  /// Members that optimizer_rule names. The arena has the momenta. It is allocated even if momentum is 0, so that
  /// memory does not depend on a run-time value; steps with momentum 0 do not access it. plain_sgd has no arena.
  ///@{
  static constexpr std::size_t state_arenas = 1;
  static constexpr bool takes_groups = true, skips_steps = true;
  static constexpr const char* name = "sgd";

  static void for_each_option(auto& self, auto&& f) {
    f("learning_rate", self.learning_rate, not_negative);
    f("momentum", self.momentum, not_negative);
    f("dampening", self.dampening, not_negative);
    f("weight_decay", self.weight_decay, not_negative);
    f("nesterov", self.nesterov);
  }

  /// Throws argument_error for Nesterov's momentum without momentum or with dampening.
  void validate() const {
    if (nesterov && (momentum <= 0 || dampening != 0))
      throw argument_error(
          "sgd: nesterov needs a momentum above 0 and a dampening of 0; set .momentum (0.9 is usual) and leave "
          ".dampening out.");
  }

  /// Reads the number of the first step with momentum from the rule that was last sent to the place.
  template <class Backend, class Arguments> void step(const Arguments& arguments) const {
    const auto& last = *static_cast<const detail::sent_steps<detail::sgd_formula>*>(arguments.sent);
    const std::int64_t first = last.rule.first != 0 || momentum == 0 ? last.rule.first : arguments.step;
    const detail::sgd_formula formula{learning_rate, momentum, dampening, weight_decay, nesterov, first};
    if (momentum != 0)
      detail::update_by_formula<1, Backend>(formula, arguments);
    else
      detail::update_by_formula<0, Backend>(formula, arguments);
  }
  ///@}

  /// Whether all hyperparameters are equal.
  friend bool operator==(const sgd&, const sgd&) = default;
};

}  // namespace devplace::optim
