// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <devplace/optim/detail/record_of_steps.hpp>
#include <devplace/optim/detail/validation.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/runtime/update.hpp>

namespace devplace::optim {

namespace detail {

/// The factors of a step of RMSprop, which are equal for all steps.
template <class T>
struct rmsprop_factors {
  T kept, added;  ///< factors of the mean of squares and of the new square: alpha and 1 - alpha
  T l2, momentum, epsilon, learning_rate;
};

struct rmsprop_hyper {
  double learning_rate, alpha, epsilon, weight_decay, momentum;

  friend bool operator==(const rmsprop_hyper&, const rmsprop_hyper&) = default;

  template <class T>
  using factors = rmsprop_factors<T>;

  template <class T>
  DEVPLACE_HD void set(rmsprop_factors<T>& to, std::int64_t) const {
    to = {static_cast<T>(alpha),    static_cast<T>(1 - alpha), static_cast<T>(weight_decay),
          static_cast<T>(momentum), static_cast<T>(epsilon),   static_cast<T>(learning_rate)};
  }
};

template <class T>
struct rmsprop_numbers {
  runtime::gradient_source<T> source;
  T* parameters;
  T* squares;
  T* momenta;
  rmsprop_factors<T> by;

  DEVPLACE_HD void element(std::size_t i, T factor) const {
    const T gradient = source.gradients[i] * factor + by.l2 * parameters[i];
    const T square = by.kept * squares[i] + by.added * gradient * gradient;
    squares[i] = square;
    T direction = gradient / (std::sqrt(square) + by.epsilon);
    if (by.momentum != T{0}) {
      direction = by.momentum * momenta[i] + direction;
      momenta[i] = direction;
    }
    parameters[i] -= by.learning_rate * direction;
  }
};

template <class T>
struct rmsprop_update {
  using value_type = T;

  runtime::gradient_source<T> source;
  T* parameters;
  T* squares;
  T* momenta;
  runtime::step_record<rmsprop_hyper, T>* steps;

  DEVPLACE_HD rmsprop_numbers<T> numbers() const { return {source, parameters, squares, momenta, steps->next}; }
};

}  // namespace detail

/// Hyperparameters of RMSprop (Hinton 2012) with the arithmetic of torch.optim.RMSprop without `centered`:
/// `rmsprop{.learning_rate = 1e-3}`. Let g be the gradient plus weight_decay times the parameter, v = alpha v + (1 -
/// alpha) g^2 and b = momentum b + g / (sqrt(v) + epsilon); a step subtracts learning_rate times b from the parameter.
struct rmsprop {
  double learning_rate = 1e-2;  ///< step size
  double alpha = 0.99;          ///< decay rate of the mean of squares
  double epsilon = 1e-8;        ///< added to the square root of the mean of squares
  double weight_decay = 0;      ///< L2 penalty: added to the gradient, times the parameter
  double momentum = 0;          ///< decay rate of the momentum

  /// The means of squares, and the momenta, which are not accessed if momentum is 0.
  static constexpr std::size_t state_arenas = 2;

  /// Throws argument_error for a negative or infinite value and for an alpha outside [0, 1).
  void validate() const {
    detail::require_not_negative(learning_rate, "rmsprop", "learning_rate");
    detail::require_decay_rate(alpha, "rmsprop", "alpha");
    detail::require_not_negative(epsilon, "rmsprop", "epsilon");
    detail::require_not_negative(weight_decay, "rmsprop", "weight_decay");
    detail::require_not_negative(momentum, "rmsprop", "momentum");
  }

  /// One update; see optimizer_rule.
  template <class Backend, class T>
  void step(const step_arguments<T>& a) const {
    const detail::rmsprop_hyper hyper{learning_rate, alpha, epsilon, weight_decay, momentum};
    runtime::run_update<Backend>(a.ordinal, a.n,
                                 detail::rmsprop_update<T>{{a.gradients, a.divisor, a.gradient_factor},
                                                           a.parameters,
                                                           a.state[0],
                                                           a.state[1],
                                                           detail::record_of_steps<Backend>(a, hyper)});
  }
};

}  // namespace devplace::optim
