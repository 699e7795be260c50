// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/runtime/pass.hpp>

namespace devplace::runtime {

/// Points to numbers on a place that change a step: a factor of the gradients, and a flag that skips the step. A null
/// pointer changes nothing.
template <class T> struct step_factors {
  const T* factor = nullptr;
  const std::uint32_t* skip = nullptr;
};

/// Scales gradients before the update. If the divisor is 0, all samples of the batch are ignored: gradients are 0,
/// where a division would give NaN.
template <class T> struct gradient_source {
  const T* gradients;
  const T* divisor;
  const T* gradient_factor;
  const std::uint32_t* skip = nullptr;  ///< one element: nonzero skips the step; null: never skipped
  const T* weights = nullptr;           ///< one element, the sum of sample weights: NaN skips the step; or null

  DEVPLACE_HD bool skipped() const {
    return (skip != nullptr && *skip != 0) || (weights != nullptr && *weights != *weights);
  }
  DEVPLACE_HD T factor() const {
    const T factor = gradient_factor == nullptr ? T{1} : *gradient_factor;
    if (divisor == nullptr) return factor;
    return *divisor == T{0} ? T{0} : factor / *divisor;
  }
};

/// A place's record of its optimizer's steps, in the memory that step_arguments provides to a rule. An update reads the
/// factors of its step here and stores the factors of the next step, so that one launch can be repeated. `Rule` has the
/// hyperparameters in double; its `set(factors, t)` computes the factors of step t.
template <class Rule, class T> struct step_record {
  using factors = typename Rule::template factors<T>;

  Rule rule;
  std::int64_t step;  ///< the next step; the first one is 1
  factors next;       ///< the factors of that step
  unsigned ticket;    ///< blocks of the running update that are done; 0 between updates

  DEVPLACE_HD void begin(const Rule& with, std::int64_t at) {
    rule = with;
    step = at;
    rule.set(next, at);
    ticket = 0;
  }
  /// Changes the hyperparameters from this place's next step on; the place may have skipped steps that the host
  /// counted. In a rule with a member `first`, keeps the value of `first` that this place has recorded.
  DEVPLACE_HD void resume(const Rule& with, std::int64_t at) {
    Rule resumed = with;
    if (step != 0) {
      if constexpr (requires { resumed.first; })
        if (resumed.first != 0) resumed.first = rule.first != 0 ? rule.first : step;
      at = step;
    }
    begin(resumed, at);
  }
  DEVPLACE_HD void advance() {
    ++step;
    rule.set(next, step);
  }
};

/// The first argument of a formula for one element: the factor of the element's gradient, and the square root. Backends
/// pass another type for vectors of elements.
template <class T> struct element_arithmetic {
  T factor;

  DEVPLACE_HD static void take_root(T& x) { x = std::sqrt(x); }
};

/// Destination of the rounded parameters that layers read: elements of another type, or none (void).
template <class Working> struct working_parameters {
  Working* data;
  template <class T> DEVPLACE_HD void store(std::size_t i, T parameter) const {
    data[i] = static_cast<Working>(parameter);
  }
};
template <> struct working_parameters<void> {
  template <class T> DEVPLACE_HD void store(std::size_t, T) const {}
};

/// An enqueued update. Calls the function object `steps->next` for each element: `next(arithmetic, gradient, parameter,
/// state...)` changes the parameter and the state.
template <class Rule, class T, std::size_t Arrays, class Working = void> struct update {
  using value_type = T;
  using working_type = Working;
  using factors = typename Rule::template factors<T>;
  using array_numbers = std::make_index_sequence<Arrays>;

  gradient_source<T> source;
  T* arrays[Arrays];  ///< parameters, then state
  step_record<Rule, T>* steps;
  working_parameters<Working> working = {};

  DEVPLACE_HD void element(const factors& formula, T factor, std::size_t i) const {
    call(formula, factor, i, array_numbers{});
  }

  /// Returns a copy of the formula for every element.
  struct formulas_type {
    factors formula;
    DEVPLACE_HD const factors& at(std::size_t) const { return formula; }
  };
  DEVPLACE_HD formulas_type formulas() const { return {steps->next}; }
  /// Calls f(update, begin, end) for each range of elements with one formula.
  template <class F> void for_each_group(std::size_t begin, std::size_t end, F&& f) const { f(*this, begin, end); }
  DEVPLACE_HD void advance() const { steps->advance(); }

 private:
  template <std::size_t... Array>
  DEVPLACE_HD void call(const factors& formula, T factor, std::size_t i, std::index_sequence<Array...>) const {
    formula(element_arithmetic<T>{factor}, source.gradients[i], arrays[Array][i]...);
    working.store(i, arrays[0][i]);
  }
};

/// An update of groups of parameters with different options: `steps` has a record for each group. Parameters begin at
/// multiples of element_alignment, so each block of element_alignment elements is in one group.
template <class Rule, class T, std::size_t Arrays, class Working = void>
struct grouped_update : update<Rule, T, Arrays, Working> {
  using typename update<Rule, T, Arrays, Working>::factors;
  using records = const step_record<Rule, T>*;

  const std::uint8_t* group_of;  ///< group of each block of element_alignment elements of the model's arena
  std::size_t first;             ///< the first element that is updated
  unsigned groups;

  struct formulas_type {
    records steps;
    const std::uint8_t* group_of;
    std::size_t first;
    DEVPLACE_HD const factors& at(std::size_t i) const { return steps[group_of[(first + i) / element_alignment]].next; }
  };
  DEVPLACE_HD formulas_type formulas() const { return {this->steps, group_of, first}; }
  template <class F> void for_each_group(std::size_t begin, std::size_t end, F&& f) const {
    while (begin < end) {
      const std::uint8_t group = group_of[(first + begin) / element_alignment];
      std::size_t stop = begin;
      while (stop < end && group_of[(first + stop) / element_alignment] == group)
        stop += element_alignment - (first + stop) % element_alignment;
      stop = stop < end ? stop : end;
      update<Rule, T, Arrays, Working> of_group = *this;
      of_group.steps += group;
      f(of_group, begin, stop);
      begin = stop;
    }
  }
  DEVPLACE_HD void advance() const {
    for (unsigned group = 0; group < groups; ++group) this->steps[group].advance();
  }
};

}  // namespace devplace::runtime
