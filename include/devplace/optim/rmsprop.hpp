// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/optim/detail/update_by_formula.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/option_range.hpp>

namespace devplace::optim {

namespace detail {

/// The factors of RMSprop, equal for all steps, and the formula of a step, with a momentum or none.
template <class T> struct rmsprop_factors {
  T kept, added;  ///< factors of the mean of squares, alpha, and of the new square, 1 - alpha
  T l2, momentum, epsilon, learning_rate;

  template <class Arithmetic, class V, class... Momentum>
  [[gnu::always_inline]] DEVPLACE_HD void operator()(const Arithmetic& with, const V& raw, V& parameter, V& square,
                                                     Momentum&... moment) const {
    const V gradient = raw * with.factor + l2 * parameter;
    square = kept * square + added * gradient * gradient;
    V direction = square;
    with.take_root(direction);
    direction = gradient / (direction + epsilon);
    ((moment = momentum * moment + direction, direction = moment), ...);
    parameter = parameter - learning_rate * direction;
  }
};

}  // namespace detail

/// Hyperparameters of RMSprop (Hinton 2012) with the arithmetic of torch.optim.RMSprop without `centered`:
/// `rmsprop{.learning_rate = 1e-3}`. Let g be the gradient plus weight_decay times the parameter, v = alpha v + (1 -
/// alpha) g^2 and b = momentum b + g / (sqrt(v) + epsilon); a step subtracts learning_rate times b from the parameter.
struct rmsprop {
  double learning_rate = 1e-2;  ///< step size
  double alpha = 0.99;          ///< decay rate of the mean of squares
  double epsilon = 1e-8;        ///< added to the square root of the mean of squares
  double weight_decay = 0;      ///< L2 penalty: its product with the parameter is added to the gradient
  double momentum = 0;          ///< decay rate of the momentum

  /// Members that optimizer_rule names. The two arenas have the means of squares and the momenta; steps with momentum 0
  /// do not access the momenta.
  ///@{
  static constexpr std::size_t state_arenas = 2;
  static constexpr bool takes_groups = true, skips_steps = true;
  static constexpr const char* name = "rmsprop";

  static void for_each_option(auto& self, auto&& f) {
    f("learning_rate", self.learning_rate, not_negative);
    f("alpha", self.alpha, decay_rate);
    f("epsilon", self.epsilon, not_negative);
    f("weight_decay", self.weight_decay, not_negative);
    f("momentum", self.momentum, not_negative);
  }

  template <class Backend, class Arguments> void step(const Arguments& arguments) const {
    if (momentum != 0)
      detail::update_by_formula<2, Backend>(*this, arguments);
    else
      detail::update_by_formula<1, Backend>(*this, arguments);
  }
  ///@}

  /// Members of a formula (runtime/step_record.hpp): multiplication by a group's factors, and the factors of a step.
  ///@{
  void scale(const option_factors& by) {
    learning_rate *= by.learning_rate;
    weight_decay *= by.weight_decay;
  }

  template <class T> using factors = detail::rmsprop_factors<T>;
  template <class T> DEVPLACE_HD void set(detail::rmsprop_factors<T>& to, std::int64_t) const {
    to = {static_cast<T>(alpha),    static_cast<T>(1 - alpha), static_cast<T>(weight_decay),
          static_cast<T>(momentum), static_cast<T>(epsilon),   static_cast<T>(learning_rate)};
  }
  ///@}

  /// Whether all hyperparameters are equal.
  friend bool operator==(const rmsprop&, const rmsprop&) = default;
};

}  // namespace devplace::optim
