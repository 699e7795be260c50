// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <devplace/optim/option_range.hpp>
#include <devplace/optim/schedule_function.hpp>

// Learning rates as functions of the step number, which is the number of updates before the step: 0 in the first
// update. `base` is the rule's learning rate. optim/scheduled.hpp applies the schedules.

namespace devplace::optim {

template <class First, class Second> struct sequence;

/// Multiplies the rule's learning rate by a factor in the first `steps` steps: PyTorch's ConstantLR.
struct constant {
  double factor = 1;       ///< at least 0
  std::int64_t steps = 0;  ///< number of steps with the factor

  /// Returns the learning rate of a step.
  double rate(double base, std::int64_t step) const { return step < steps ? base * factor : base; }
  /// Returns a sequence: this schedule for its `steps`, then `next`, whose steps count from 0 again.
  template <class Next> auto then(const Next& next) const { return sequence{*this, steps, next}; }
  static constexpr const char* name = "constant";  ///< begins messages about options
  /// Lists the options; see rate_schedule.
  static void for_each_option(auto& self, auto&& f) {
    f("factor", self.factor, not_negative);
    f("steps", self.steps, at_least{0, "a number of steps"});
  }
};

/// Multiplies the rule's learning rate by a factor that changes linearly, PyTorch's LinearLR: the factor has the value
/// `from` in the first step, and the value `to` in step `steps` and later steps. A warm-up is
/// `optim::linear{.steps = 500}.then(optim::cosine{.steps = 9500})`.
struct linear {
  std::int64_t steps = 0;  ///< at least 1
  double from = 1.0 / 3;   ///< at least 0
  double to = 1;           ///< at least 0

  /// Returns the learning rate of a step.
  double rate(double base, std::int64_t step) const {
    return base * (from + (to - from) * static_cast<double>(std::min(step, steps)) / static_cast<double>(steps));
  }
  /// Returns a sequence: this schedule for its `steps`, then `next`, whose steps count from 0 again.
  template <class Next> auto then(const Next& next) const { return sequence{*this, steps, next}; }
  static constexpr const char* name = "linear";  ///< begins messages about options
  /// Lists the options; see rate_schedule.
  static void for_each_option(auto& self, auto&& f) {
    f("steps", self.steps, at_least{1, "a number of steps"});
    f("from", self.from, not_negative);
    f("to", self.to, not_negative);
  }
};

/// Follows half a period of a cosine from the rule's learning rate to `minimum`, reached in step `steps`: PyTorch's
/// CosineAnnealingLR. As in PyTorch, the rate rises again after that step.
struct cosine {
  std::int64_t steps = 0;  ///< at least 1
  double minimum = 0;      ///< a learning rate, at least 0

  /// Returns the learning rate of a step.
  double rate(double base, std::int64_t step) const {
    return minimum + (base - minimum) * detail::cosine_factor(static_cast<double>(step) / static_cast<double>(steps));
  }
  /// Returns a sequence: this schedule for its `steps`, then `next`, whose steps count from 0 again.
  template <class Next> auto then(const Next& next) const { return sequence{*this, steps, next}; }
  static constexpr const char* name = "cosine";  ///< begins messages about options
  /// Lists the options; see rate_schedule.
  static void for_each_option(auto& self, auto&& f) {
    f("steps", self.steps, at_least{1, "a number of steps"});
    f("minimum", self.minimum, not_negative);
  }
};

/// Multiplies the learning rate by `factor` at regular intervals: PyTorch's StepLR.
struct step_decay {
  std::int64_t every = 0;  ///< number of steps of an interval, at least 1
  double factor = 0.1;     ///< at least 0

  /// Returns the learning rate of a step.
  double rate(double base, std::int64_t step) const {
    return base * std::pow(factor, static_cast<double>(step / every));
  }
  static constexpr const char* name = "step_decay";  ///< begins messages about options
  /// Lists the options; see rate_schedule.
  static void for_each_option(auto& self, auto&& f) {
    f("every", self.every, at_least{1, "a number of steps"});
    f("factor", self.factor, not_negative);
  }
};

/// One cycle (Smith and Topin 2018), PyTorch's OneCycleLR. The rule's learning rate is the largest rate (`max_lr`): a
/// step's rate rises from a fraction of the largest rate to the largest rate, and then falls far below the first rate.
/// The momentum, or Adam's beta1, falls and rises. The last of the `steps` steps has the smallest rate. Later steps
/// keep this rate; PyTorch raises an error for them.
struct one_cycle {
  std::int64_t steps = 0;           ///< steps of the whole cycle, at least 2: total_steps
  double rise = 0.3;                ///< share of the steps in which the rate rises: pct_start
  double first_divisor = 25;        ///< the first rate is the largest rate divided by this number: div_factor
  double last_divisor = 1e4;        ///< the last rate is the first rate divided by this number: final_div_factor
  bool linear_annealing = false;    ///< lines instead of cosines: anneal_strategy
  bool three_phases = false;        ///< the rate first falls back to the first rate, then to the last: three_phase
  bool cycle_momentum = true;       ///< if false, the rule's momentum stays
  double smallest_momentum = 0.85;  ///< at the largest rate: base_momentum
  double largest_momentum = 0.95;   ///< at the first and the last rate: max_momentum

  /// Returns the learning rate of a step.
  double rate(double base, std::int64_t step) const {
    const double first = base / first_divisor;
    return value(step, first, base, three_phases ? first : base, first / last_divisor);
  }
  /// Returns the momentum of a step; `base` is the rule's momentum.
  double momentum(double base, std::int64_t step) const {
    if (!cycle_momentum) return base;
    return value(step, largest_momentum, smallest_momentum, three_phases ? largest_momentum : smallest_momentum,
                 largest_momentum);
  }
  /// Whether a rule must have a momentum.
  bool needs_momentum() const { return cycle_momentum; }
  /// Returns a sequence: this schedule for its `steps`, then `next`, whose steps count from 0 again.
  template <class Next> auto then(const Next& next) const { return sequence{*this, steps, next}; }

  static constexpr const char* name = "one_cycle";  ///< begins messages about options
  /// Lists the options; see rate_schedule.
  static void for_each_option(auto& self, auto&& f) {
    f("steps", self.steps, at_least{2, "a number of steps"});
    f("rise", self.rise, proportion);
    f("first_divisor", self.first_divisor, positive);
    f("last_divisor", self.last_divisor, positive);
    f("linear_annealing", self.linear_annealing);
    f("three_phases", self.three_phases);
    f("cycle_momentum", self.cycle_momentum);
    f("smallest_momentum", self.smallest_momentum, decay_rate);
    f("largest_momentum", self.largest_momentum, decay_rate);
  }

 private:
  /// Interpolates within the step's phase. Phases need not end in whole steps, as in PyTorch; the middle phase is empty
  /// unless there are three phases.
  double value(std::int64_t step, double at_start, double at_top, double at_middle, double at_end) const {
    const double now = static_cast<double>(step), total = static_cast<double>(steps);
    const double top = rise * total - 1, middle = three_phases ? 2 * rise * total - 2 : top;
    if (now <= top) return between(at_start, at_top, now, 0, top);
    if (now <= middle) return between(at_top, at_middle, now, top, middle);
    return between(at_middle, at_end, now, middle, total - 1);
  }
  double between(double a, double b, double now, double start, double end) const {
    const double share = now < end ? (now - start) / (end - start) : 1;
    return linear_annealing ? a + (b - a) * share : b + (a - b) * detail::cosine_factor(share);
  }
};

/// Follows the schedule `first` before step `until`, and the schedule `second` from this step on; the steps of `second`
/// count from 0 again. PyTorch's SequentialLR: `optim::sequence{optim::cosine{.steps = 100}, 100, optim::constant{}}`.
template <class First, class Second> struct sequence {
  static constexpr bool has_schedules = detail::has_rate<First> && detail::has_rate<Second>;  ///< printed by g++
  static_assert(has_schedules,
                "devplace: sequence: its arguments are a schedule, its number of steps and the next schedule; then() "
                "takes the next schedule. A schedule is one of the library's, such as optim::cosine{.steps = 1000}, or "
                "a function of the step, a std::int64_t, that returns the factor of the learning rate.");

  First first;         ///< the first schedule
  std::int64_t until;  ///< the first step of the second schedule
  Second second;       ///< the second schedule

  /// Makes a sequence of two schedules or functions of the step.
  sequence(const First& begins, std::int64_t steps, const Second& continues)
      : first(begins), until(steps), second(continues) {}

  /// Returns the learning rate of a step.
  double rate(double base, std::int64_t step) const {
    return step < until ? first.rate(base, step) : second.rate(base, step - until);
  }
  /// Returns the momentum of a step: the rule's momentum `base` where a schedule has none.
  double momentum(double base, std::int64_t step) const {
    return step < until ? detail::momentum_of(first, base, step) : detail::momentum_of(second, base, step - until);
  }
  /// Whether a rule must have a momentum.
  bool needs_momentum() const { return detail::needs_momentum(first) || detail::needs_momentum(second); }

  /// Throws argument_error for options of the schedules out of their ranges and for a negative `until`.
  void validate() const {
    at_least{0, "a number of steps"}.require(until, "sequence", "until");
    optim::validate(first);
    optim::validate(second);
  }
  /// Lists the options; see rate_schedule.
  static void for_each_option(auto& self, auto&& f) {
    detail::for_each_option_of("first ", self.first, f);
    f("until", self.until);
    detail::for_each_option_of("second ", self.second, f);
  }
  /// Returns a sequence: this sequence until step `steps` (by default the end of its last part), then `next`, whose
  /// steps count from 0 again.
  ///@{
  template <class Next> auto then(std::int64_t steps, const Next& next) const {
    using continued = sequence<sequence, detail::schedule_type<Next>>;  // nvcc does not deduce it here
    return continued{*this, steps, next};
  }
  template <class Next> auto then(const Next& next) const {
    constexpr bool ends = requires { second.steps; };
    static_assert(ends,
                  "devplace: sequence: its last part has no number of steps, so the first step of the next schedule is "
                  "unknown; give this step, as in a.then(b).then(1000, c).");
    if constexpr (ends)
      return then(until + second.steps, next);
    else
      return *this;
  }
  ///@}
};

/// A function becomes a schedule_function.
template <class First, class Second>
sequence(const First&, std::int64_t, const Second&)
    -> sequence<detail::schedule_type<First>, detail::schedule_type<Second>>;

}  // namespace devplace::optim
