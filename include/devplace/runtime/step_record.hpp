// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <devplace/config.hpp>

namespace devplace::runtime {

/// Scales gradients before they are used. A divisor of 0 means a batch in which all samples are ignored: its gradients
/// are 0, and dividing would make them NaN.
template <class T>
struct gradient_source {
  const T* gradients;
  const T* divisor;
  const T* gradient_factor;

  DEVPLACE_HD T factor() const {
    const T factor = gradient_factor == nullptr ? T{1} : *gradient_factor;
    if (divisor == nullptr) return factor;
    return *divisor == T{0} ? T{0} : factor / *divisor;
  }
};

/// A place's record of its optimizer's steps, in the memory that step_arguments provides to a rule. An update reads its
/// factors here and stores those of the next step, so that the same launch can be repeated. `Rule` contains the
/// hyperparameters in double; its `set(factors, t)` computes the factors of step t.
template <class Rule, class T>
struct step_record {
  using factors = typename Rule::template factors<T>;

  Rule rule;
  std::int64_t step;  ///< the next step; the first one is 1
  factors next;       ///< its factors
  unsigned ticket;    ///< blocks of the running update that are done; 0 between updates

  DEVPLACE_HD void begin(const Rule& with, std::int64_t at) {
    rule = with;
    step = at;
    rule.set(next, at);
    ticket = 0;
  }
  DEVPLACE_HD void advance() {
    ++step;
    rule.set(next, step);
  }
};

/// The first argument of a formula for one element: the factor of its gradient, and square roots. Backends call the
/// formula for vectors of elements, too, with an arithmetic of their own.
template <class T>
struct element_arithmetic {
  T factor;

  DEVPLACE_HD static void take_root(T& x) { x = std::sqrt(x); }
};

/// An enqueued update: the factors that `steps` has when it runs are a formula, which is called for each element as
/// `factors(arithmetic, gradient, parameter, state...)` and changes the parameter and the state.
template <class Rule, class T, std::size_t Arrays>
struct update {
  using value_type = T;
  using factors = typename Rule::template factors<T>;
  using array_numbers = std::make_index_sequence<Arrays>;

  gradient_source<T> source;
  T* arrays[Arrays];  ///< parameters, then state
  step_record<Rule, T>* steps;

  DEVPLACE_HD void element(const factors& formula, T factor, std::size_t i) const {
    call(formula, factor, i, array_numbers{});
  }

 private:
  template <std::size_t... Array>
  DEVPLACE_HD void call(const factors& formula, T factor, std::size_t i, std::index_sequence<Array...>) const {
    formula(element_arithmetic<T>{factor}, source.gradients[i], arrays[Array][i]...);
  }
};

}  // namespace devplace::runtime
