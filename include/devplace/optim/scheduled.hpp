// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/option_range.hpp>
#include <devplace/optim/schedule_function.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/number_format.hpp>

namespace devplace::optim {

/// Requirements on every schedule, whether of the library (optim/schedules.hpp) or of a user: a copyable struct with
/// `double rate(double base, std::int64_t step) const`. Given a rule's learning rate `base`, it returns the learning
/// rate of a step, counted from 0, and depends on its arguments alone. Optional members:
/// - `double momentum(double base, std::int64_t step) const`: likewise for the rule's `momentum`, or its `beta1`;
/// - `for_each_option(self, f)` and `name`: the list of its options, as in an optimizer_rule;
/// - `void validate() const`: throws argument_error for contradictory options.
template <class Schedule>
concept rate_schedule = std::copyable<Schedule> && detail::has_rate<Schedule>;

/// A rule whose learning rate follows a schedule:
/// ```
/// trainer step{model, loss,
///              optim::scheduled{optim::adam{.learning_rate = 1e-3},
///                               optim::linear{.steps = 500}.then(optim::cosine{.steps = 9500})}};
/// ```
/// A step's number is the number of updates before the step: with accumulate<k> the schedule advances with each update.
/// In mixed<half> the schedule also advances with skipped updates, as in a PyTorch program that calls scheduler.step()
/// after each scaler.step(). The host computes the rate and sends it to the places by a launch when the rate changes; a
/// step does not wait for the launch. Inherits the rule's members; a change of `learning_rate`, or of `schedule`, takes
/// effect in the next step.
template <class Rule, class Schedule> struct scheduled : Rule {
  /// Conditions, named in error messages.
  ///@{
  static constexpr bool is_rule = optimizer_rule<Rule>;
  static constexpr bool is_schedule = rate_schedule<Schedule>;
  static constexpr bool has_rate = requires(Rule rule) { rule.learning_rate = 0.1; };
  ///@}
  static_assert(is_rule,
                "devplace: scheduled: its arguments are an optimizer's rule and then a schedule: optim::scheduled{"
                "optim::adam{.learning_rate = 1e-3}, optim::cosine{.steps = 1000}}.");
  static_assert(!is_rule || is_schedule,
                "devplace: scheduled: the argument after the rule is neither a schedule, such as optim::cosine{.steps "
                "= 1000}, nor a function of the step, a std::int64_t, that returns the factor of the learning rate.");
  static_assert(!is_rule || has_rate,
                "devplace: scheduled: the rule has no learning_rate that a schedule could change.");

  Schedule schedule;  ///< the learning rate as a function of the step

  /// Copies a rule with its hyperparameters and a schedule.
  scheduled(const Rule& rule, const Schedule& of_rate) : Rule(rule), schedule(of_rate) {}

  /// Returns the rule of a step, counted from 0: `step.optimizer().rule().at(n).learning_rate`.
  Rule at(std::int64_t step) const {
    Rule now = *this;
    if constexpr (is_schedule && has_rate) now.learning_rate = schedule.rate(this->learning_rate, step);
    if constexpr (detail::has_momentum<Schedule>) {
      if constexpr (requires { now.momentum = 0.9; })
        now.momentum = schedule.momentum(this->momentum, step);
      else if constexpr (requires { now.beta1 = 0.9; })
        now.beta1 = schedule.momentum(this->beta1, step);
    }
    return now;
  }

  /// Throws argument_error for invalid hyperparameters and options of the schedule.
  void validate() const {
    if constexpr (requires(const Rule& rule) { rule.validate_step(std::int64_t{1}); })  // has a schedule of its own
      Rule::validate();
    else
      optim::validate(static_cast<const Rule&>(*this));
    optim::validate(schedule);
    constexpr bool has_momentum =
        requires(Rule rule) { rule.momentum = 0.9; } || requires(Rule rule) { rule.beta1 = 0.9; };
    if constexpr (!has_momentum)
      if (detail::needs_momentum(schedule))
        throw argument_error(
            "scheduled: the schedule changes the momentum, and the rule has neither momentum nor beta1; keep the "
            "momentum constant, in one_cycle by .cycle_momentum = false.");
  }
  /// Called before step number `step`, counted from 1. Also throws for a learning rate or momentum that the rule cannot
  /// take.
  void validate_step(std::int64_t step) const {
    validate();
    const Rule now = at(step - 1);
    const double rate = now.learning_rate;
    if (!devplace::detail::is_finite(rate) || rate < 0)
      throw argument_error({"scheduled: the schedule gives the learning rate ",
                            devplace::detail::format_number(now.learning_rate), " in step ", step - 1,
                            ", counted from 0; it must be a finite number that is not negative."});
    if constexpr (requires { now.validate_step(step); })  // a rule that has a schedule of its own
      now.validate_step(step);
    else
      optim::validate(now);
  }

  /// One update; see optimizer_rule.
  template <class Backend, class Arguments> void step(const Arguments& arguments) const {
    at(arguments.step - 1).template step<Backend>(arguments);
  }

  /// Lists the hyperparameters and the schedule's options.
  static void for_each_option(auto& self, auto&& f) {
    using rule = std::conditional_t<std::is_const_v<std::remove_reference_t<decltype(self)>>, const Rule, Rule>;
    devplace::detail::for_each_option(static_cast<rule&>(self), f);
    detail::for_each_option_of("", self.schedule, f);
  }
};

/// `optim::scheduled{rule, schedule}`; a function becomes a schedule_function.
template <class Rule, class Schedule>
scheduled(const Rule&, const Schedule&) -> scheduled<Rule, detail::schedule_type<Schedule>>;

}  // namespace devplace::optim
