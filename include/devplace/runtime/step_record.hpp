// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/runtime/update_formulas.hpp>

namespace devplace::runtime {

/// A place's record of its optimizer's steps, in the memory that step_arguments provides to a rule. An update reads its
/// factors here and stores those of the next step, so that the same launch can be repeated. `Hyper` contains the
/// hyperparameters in double; its `set(factors, t)` computes the factors of step t.
template <class Hyper, class T>
struct step_record {
  Hyper hyper;
  std::int64_t step;                         ///< the next step; the first one is 1
  typename Hyper::template factors<T> next;  ///< its factors
  unsigned ticket;                           ///< blocks of the running update that are done; 0 between updates

  DEVPLACE_HD void begin(const Hyper& with, std::int64_t at) {
    hyper = with;
    step = at;
    hyper.set(next, at);
    ticket = 0;
  }
  DEVPLACE_HD void advance() {
    ++step;
    hyper.set(next, step);
  }
};

/// Hyperparameters of Adam and AdamW. Weight decay is added to the gradient or acts on the parameter (Loshchilov and
/// Hutter 2019); the other of the two is 0.
struct adam_hyper {
  double learning_rate, beta1, beta2, epsilon, decay_of_gradient, decay_of_parameter;

  friend bool operator==(const adam_hyper&, const adam_hyper&) = default;

  template <class T>
  using factors = adam_factors<T>;

  /// Bias corrections are computed in double. Each factor is stored when it is computed, to save a GPU's registers.
  template <class T>
  DEVPLACE_HD void set(adam_factors<T>& to, std::int64_t t) const {
    to.beta1 = static_cast<T>(beta1);
    to.rest1 = static_cast<T>(1 - beta1);
    to.beta2 = static_cast<T>(beta2);
    to.rest2 = static_cast<T>(1 - beta2);
    to.kept = static_cast<T>(1 - learning_rate * decay_of_parameter);
    to.l2 = static_cast<T>(decay_of_gradient);
    to.epsilon = static_cast<T>(epsilon);
    to.step_size = static_cast<T>(learning_rate / (1 - std::pow(beta1, static_cast<double>(t))));
    to.root_scale = static_cast<T>(1 / std::sqrt(1 - std::pow(beta2, static_cast<double>(t))));
  }
};

/// Hyperparameters of stochastic gradient descent.
struct sgd_hyper {
  double learning_rate, momentum, dampening, weight_decay;
  bool nesterov;

  friend bool operator==(const sgd_hyper&, const sgd_hyper&) = default;

  template <class T>
  using factors = sgd_factors<T>;

  /// The first step has no momentum yet.
  template <class T>
  DEVPLACE_HD void set(sgd_factors<T>& to, std::int64_t t) const {
    const bool first = t <= 1;
    to.l2 = static_cast<T>(weight_decay);
    to.kept = first ? T{0} : static_cast<T>(momentum);
    to.added = first ? T{1} : static_cast<T>(1 - dampening);
    to.direct = nesterov ? T{1} : T{0};
    to.inertial = nesterov ? static_cast<T>(momentum) : T{1};
    to.learning_rate = static_cast<T>(learning_rate);
  }
};

/// An enqueued update by Adam or AdamW: its factors are those in the record when it runs.
template <class T>
struct adam_update {
  using value_type = T;

  gradient_source<T> source;
  T* parameters;
  T* first_moments;
  T* second_moments;
  step_record<adam_hyper, T>* steps;

  DEVPLACE_HD adam_numbers<T> numbers() const {
    return {source, parameters, first_moments, second_moments, steps->next};
  }
};

/// The same for stochastic gradient descent.
template <class T, bool Momentum>
struct sgd_update {
  using value_type = T;

  gradient_source<T> source;
  T* parameters;
  T* momenta;
  step_record<sgd_hyper, T>* steps;

  DEVPLACE_HD sgd_numbers<T, Momentum> numbers() const { return {source, parameters, momenta, steps->next}; }
};

}  // namespace devplace::runtime
