// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include <devplace/ops/for_each.hpp>
#include <devplace/ops/repeated_work.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/runtime/update.hpp>

namespace devplace::optim::detail {

/// Functor that sets a place's hyperparameters and next step.
template <class Rule, class T> struct begin_steps {
  runtime::step_record<Rule, T>* record;
  Rule rule;
  std::int64_t step;
  bool skips;
  DEVPLACE_HD void operator()(std::size_t) const {
    if (!skips) record->step = 0;  // then resume() begins
    record->resume(rule, step);
  }
};

/// The host's copy of the last record that was sent to a place.
template <class Rule> struct sent_steps {
  Rule rule;
  std::int64_t next;

  friend bool operator==(const sent_steps&, const sent_steps&) = default;
};

/// Sends a place its record unless the record there is up to date.
template <class Backend, class Rule, class T>
void send_steps(const Rule& rule, const step_arguments<T>& a, runtime::step_record<Rule, T>* record, void* sent) {
  if (!(*static_cast<const sent_steps<Rule>*>(sent) == sent_steps<Rule>{rule, a.step})) {
    // Only the update reads the record, so that the launches of steps with different rates are equal.
    [[maybe_unused]] const typename devplace::detail::repeated_launches<Backend>::ahead of_step{};
    devplace::detail::for_each_index<Backend>(
        a.ordinal, 1, 1, begin_steps<Rule, T>{record, rule, a.step, a.skip != nullptr || a.weights != nullptr});
  }
  new (sent) sent_steps<Rule>{rule, a.step + 1};
}

template <std::size_t States, class Backend, class Update, class Arguments>
void run_update(Update& update, const Arguments& a) {
  update.source = {a.gradients, a.divisor, a.gradient_factor, a.skip, a.weights};
  update.arrays[0] = a.parameters;
  std::copy_n(a.state, States, update.arrays + 1);
  if constexpr (!std::is_void_v<typename Arguments::working_type>) {
    update.working.data = a.working;
    *a.wrote_working = true;
  }
  if (a.n != 0) devplace::detail::dispatch<op::update, Backend>(a.ordinal, a.n, update);
}

/// Enqueues one update by the formula of `rule` (runtime/step_record.hpp) with the first `States` arenas of state. Also
/// updates groups (grouped_step_arguments) in one pass: each group has a record of the formula with the group's factors
/// (Rule::scale).
template <std::size_t States, class Backend, class Rule, class Arguments>
void update_by_formula(const Rule& rule, const Arguments& a) {
  using T = typename Arguments::value_type;
  using working = typename Arguments::working_type;
  using record = runtime::step_record<Rule, T>;
  static_assert(std::is_trivially_copyable_v<record> && sizeof(record) <= step_memory_bytes &&
                std::is_trivially_copyable_v<sent_steps<Rule>> && sizeof(sent_steps<Rule>) <= step_memory_bytes);
  auto* const steps = static_cast<record*>(a.step_memory);
  if constexpr (std::is_base_of_v<grouped_step_arguments<T>, Arguments>) {
    auto* const sent = static_cast<sent_steps<Rule>*>(a.sent);
    for (unsigned group = 0; group < a.groups; ++group) {
      Rule of_group = rule;
      of_group.scale(a.factors[group]);
      send_steps<Backend>(of_group, a, steps + group, sent + group);
    }
    runtime::grouped_update<Rule, T, 1 + States, working> update{{{}, {}, steps}, a.group_of, a.first, a.groups};
    run_update<States, Backend>(update, a);
  } else {
    send_steps<Backend>(rule, a, steps, a.sent);
    runtime::update<Rule, T, 1 + States, working> update{{}, {}, steps};
    run_update<States, Backend>(update, a);
  }
}

}  // namespace devplace::optim::detail
