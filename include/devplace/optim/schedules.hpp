// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <devplace/optim/detail/schedule_parts.hpp>
#include <devplace/tensor/detail/number_options.hpp>

// Learning rates as functions of the step, the number of updates before it: 0 in the first update. `base` is the rule's
// learning rate. optim/scheduled.hpp applies the schedules.

namespace devplace::optim {

template <class First, class Second>
struct sequence;

/// Multiplies the rule's learning rate by a factor in the first `steps` steps: PyTorch's ConstantLR.
struct constant {
  double factor = 1;       ///< at least 0
  std::int64_t steps = 0;  ///< number of steps with the factor

  /// Returns the learning rate of a step.
  double rate(double base, std::int64_t step) const { return step < steps ? base * factor : base; }
  /// Returns this schedule for its `steps`, followed by `next`, whose steps count from there.
  template <class Next>
  auto then(const Next& next) const;
  /// Throws argument_error for a number out of its range.
  void validate() const {
    devplace::detail::require_not_negative(factor, "constant", "factor");
    detail::require_steps(steps, 0, "constant", "steps");
  }
  /// Calls f(name, value) for each option; processes compare them.
  void for_each_option(auto&& f) const {
    f("constant's factor", factor);
    f("constant's steps", steps);
  }
};

/// Changes the factor of the rule's learning rate linearly from `from`, in the first step, to `to`, in step `steps` and
/// later ones: PyTorch's LinearLR. A warm-up is `optim::linear{.steps = 500}.then(optim::cosine{.steps = 9500})`.
struct linear {
  std::int64_t steps = 0;  ///< at least 1
  double from = 1.0 / 3;   ///< at least 0
  double to = 1;           ///< at least 0

  /// Returns the learning rate of a step.
  double rate(double base, std::int64_t step) const {
    return base * (from + (to - from) * static_cast<double>(std::min(step, steps)) / static_cast<double>(steps));
  }
  /// Returns this schedule for its `steps`, followed by `next`, whose steps count from there.
  template <class Next>
  auto then(const Next& next) const;
  /// Throws argument_error for a number out of its range.
  void validate() const {
    detail::require_steps(steps, 1, "linear", "steps");
    devplace::detail::require_not_negative(from, "linear", "from");
    devplace::detail::require_not_negative(to, "linear", "to");
  }
  /// Calls f(name, value) for each option; processes compare them.
  void for_each_option(auto&& f) const {
    f("linear's steps", steps);
    f("linear's from", from);
    f("linear's to", to);
  }
};

/// Follows half a period of a cosine from the rule's learning rate to `minimum`, reached in step `steps`: PyTorch's
/// CosineAnnealingLR. As in PyTorch, the rate rises again after that.
struct cosine {
  std::int64_t steps = 0;  ///< at least 1
  double minimum = 0;      ///< a learning rate, at least 0

  /// Returns the learning rate of a step.
  double rate(double base, std::int64_t step) const {
    return minimum + (base - minimum) * detail::cosine_factor(static_cast<double>(step) / static_cast<double>(steps));
  }
  /// Returns this schedule for its `steps`, followed by `next`, whose steps count from there.
  template <class Next>
  auto then(const Next& next) const;
  /// Throws argument_error for a number out of its range.
  void validate() const {
    detail::require_steps(steps, 1, "cosine", "steps");
    devplace::detail::require_not_negative(minimum, "cosine", "minimum");
  }
  /// Calls f(name, value) for each option; processes compare them.
  void for_each_option(auto&& f) const {
    f("cosine's steps", steps);
    f("cosine's minimum", minimum);
  }
};

/// Multiplies the learning rate by `factor` after every `every` steps: PyTorch's StepLR.
struct step_decay {
  std::int64_t every = 0;  ///< at least 1
  double factor = 0.1;     ///< at least 0

  /// Returns the learning rate of a step.
  double rate(double base, std::int64_t step) const {
    return base * std::pow(factor, static_cast<double>(step / every));
  }
  /// Throws argument_error for a number out of its range.
  void validate() const {
    detail::require_steps(every, 1, "step_decay", "every");
    devplace::detail::require_not_negative(factor, "step_decay", "factor");
  }
  /// Calls f(name, value) for each option; processes compare them.
  void for_each_option(auto&& f) const {
    f("step_decay's every", every);
    f("step_decay's factor", factor);
  }
};

/// One cycle (Smith and Topin 2018), PyTorch's OneCycleLR. The rule's learning rate is the largest rate (`max_lr`): a
/// step's rate rises from a fraction of the largest rate to the largest rate, and then falls far below the first. The
/// momentum, or Adam's beta1, falls and rises. The last of the `steps` steps has the smallest rate, and so have later
/// steps, for which PyTorch raises an error.
struct one_cycle {
  std::int64_t steps = 0;           ///< steps of the whole cycle, at least 2: total_steps
  double rise = 0.3;                ///< share of the steps in which the rate rises: pct_start
  double first_divisor = 25;        ///< the first rate is the largest divided by this: div_factor
  double last_divisor = 1e4;        ///< the last rate is the first divided by this: final_div_factor
  bool straight = false;            ///< lines instead of cosines: anneal_strategy
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
  /// Returns this schedule for its `steps`, followed by `next`, whose steps count from there.
  template <class Next>
  auto then(const Next& next) const;

  /// Throws argument_error for a number out of its range.
  void validate() const {
    detail::require_steps(steps, 2, "one_cycle", "steps");
    devplace::detail::require_share(rise, "one_cycle", "rise");
    devplace::detail::require_positive(first_divisor, "one_cycle", "first_divisor");
    devplace::detail::require_positive(last_divisor, "one_cycle", "last_divisor");
    devplace::detail::require_decay_rate(smallest_momentum, "one_cycle", "smallest_momentum");
    devplace::detail::require_decay_rate(largest_momentum, "one_cycle", "largest_momentum");
  }
  /// Calls f(name, value) for each option; processes compare them.
  void for_each_option(auto&& f) const {
    f("one_cycle's steps", steps);
    f("one_cycle's rise", rise);
    f("one_cycle's first_divisor", first_divisor);
    f("one_cycle's last_divisor", last_divisor);
    f("one_cycle's straight", straight);
    f("one_cycle's three_phases", three_phases);
    f("one_cycle's cycle_momentum", cycle_momentum);
    f("one_cycle's smallest_momentum", smallest_momentum);
    f("one_cycle's largest_momentum", largest_momentum);
  }

 private:
  /// Interpolates within the step's phase. Phases need not end in whole steps, as in PyTorch; the middle phase is empty
  /// unless there are three.
  double value(std::int64_t step, double at_start, double at_top, double at_middle, double at_end) const {
    const double now = static_cast<double>(step), total = static_cast<double>(steps);
    const double top = rise * total - 1, middle = three_phases ? 2 * rise * total - 2 : top;
    if (now <= top) return between(at_start, at_top, now, 0, top);
    if (now <= middle) return between(at_top, at_middle, now, top, middle);
    return between(at_middle, at_end, now, middle, total - 1);
  }
  double between(double a, double b, double now, double start, double end) const {
    const double share = now < end ? (now - start) / (end - start) : 1;
    return straight ? a + (b - a) * share : b + (a - b) * detail::cosine_factor(share);
  }
};

/// Follows one schedule in the first `until` steps and then another one, whose steps count from there: PyTorch's
/// SequentialLR. `optim::sequence{optim::cosine{.steps = 100}, 100, optim::constant{}}`.
template <class First, class Second>
struct sequence {
  static constexpr bool has_schedules = detail::has_rate<First> && detail::has_rate<Second>;  ///< named in the message
  static_assert(
      has_schedules,
      "devplace: sequence: its arguments are a schedule, its number of steps and the next schedule; then() takes the "
      "next schedule. A schedule is one of the library's, such as optim::cosine{.steps = 1000}, or a function of "
      "the step, a std::int64_t, that returns the factor of the learning rate.");

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
  /// Returns the momentum of a step: the rule's, `base`, where a schedule has none.
  double momentum(double base, std::int64_t step) const {
    return step < until ? detail::momentum_of(first, base, step) : detail::momentum_of(second, base, step - until);
  }
  /// Whether a rule must have a momentum.
  bool needs_momentum() const { return detail::needs_momentum(first) || detail::needs_momentum(second); }

  /// Throws argument_error for a number out of its range.
  void validate() const {
    detail::require_steps(until, 0, "sequence", "until");
    detail::validate_schedule(first);
    detail::validate_schedule(second);
  }
  /// Calls f(name, value) for each option; processes compare them.
  void for_each_option(auto&& f) const {
    const auto named = [&f](const char* part) {
      return [&f, part](const char* name, const auto& value) { f(std::string(part).append(name).c_str(), value); };
    };
    detail::for_each_option_of(first, named("first "));
    f("until", until);
    detail::for_each_option_of(second, named("second "));
  }
  /// Returns this sequence until step `steps`, by default the end of its last part, followed by `next`, whose steps
  /// count from there.
  ///@{
  template <class Next>
  auto then(std::int64_t steps, const Next& next) const;
  template <class Next>
  auto then(const Next& next) const;
  ///@}
};

/// A function becomes a schedule_function.
template <class First, class Second>
sequence(const First&, std::int64_t, const Second&)
    -> sequence<detail::schedule_type<First>, detail::schedule_type<Second>>;

template <class Next>
auto constant::then(const Next& next) const {
  return sequence{*this, steps, next};
}
template <class Next>
auto linear::then(const Next& next) const {
  return sequence{*this, steps, next};
}
template <class Next>
auto cosine::then(const Next& next) const {
  return sequence{*this, steps, next};
}
template <class Next>
auto one_cycle::then(const Next& next) const {
  return sequence{*this, steps, next};
}
template <class First, class Second>
template <class Next>
auto sequence<First, Second>::then(std::int64_t steps, const Next& next) const {
  using continued = sequence<sequence, detail::schedule_type<Next>>;  // nvcc does not deduce it here
  return continued{*this, steps, next};
}
template <class First, class Second>
template <class Next>
auto sequence<First, Second>::then(const Next& next) const {
  constexpr bool ends = requires {
    second.steps;
  };
  static_assert(ends,
                "devplace: sequence: its last part has no number of steps, after which the next schedule begins; give "
                "the step, as in a.then(b).then(1000, c).");
  if constexpr (ends)
    return then(until + second.steps, next);
  else
    return *this;
}

}  // namespace devplace::optim
