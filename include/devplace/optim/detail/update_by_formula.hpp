// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include <devplace/ops/for_each.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/runtime/update.hpp>

namespace devplace::optim::detail {

/// Sets a place's hyperparameters and next step.
template <class Rule, class T>
struct begin_steps {
  runtime::step_record<Rule, T>* record;
  Rule rule;
  std::int64_t step;
  DEVPLACE_HD void operator()(std::size_t) const { record->begin(rule, step); }
};

/// The last record that was sent to a place.
template <class Rule>
struct sent_steps {
  Rule rule;
  std::int64_t next;

  friend bool operator==(const sent_steps&, const sent_steps&) = default;
};

/// One update by the formula of `rule` (runtime/step_record.hpp), which uses the first `States` arenas of state. The
/// place's record is sent to it only if it is not up to date there.
template <std::size_t States, class Backend, class Rule, class T>
void update_by_formula(const Rule& rule, const step_arguments<T>& a) {
  using record = runtime::step_record<Rule, T>;
  static_assert(std::is_trivially_copyable_v<record> && sizeof(record) <= step_memory_bytes &&
                std::is_trivially_copyable_v<sent_steps<Rule>> && sizeof(sent_steps<Rule>) <= step_memory_bytes);
  record* const steps = static_cast<record*>(a.step_memory);
  if (!(*static_cast<const sent_steps<Rule>*>(a.sent) == sent_steps<Rule>{rule, a.step}))
    devplace::detail::for_each_index<Backend>(a.ordinal, 1, 1, begin_steps<Rule, T>{steps, rule, a.step});
  new (a.sent) sent_steps<Rule>{rule, a.step + 1};
  runtime::update<Rule, T, 1 + States> update{{a.gradients, a.divisor, a.gradient_factor}, {a.parameters}, steps};
  std::copy_n(a.state, States, update.arrays + 1);
  runtime::run_update<Backend>(a.ordinal, a.n, update);
}

}  // namespace devplace::optim::detail
