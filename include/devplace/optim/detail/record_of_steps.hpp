// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>

#include <devplace/ops/for_each.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/runtime/step_record.hpp>

namespace devplace::optim::detail {

/// Sets a place's hyperparameters and next step.
template <class Hyper, class T>
struct begin_steps {
  runtime::step_record<Hyper, T>* record;
  Hyper hyper;
  std::int64_t step;
  DEVPLACE_HD void operator()(std::size_t) const { record->begin(hyper, step); }
};

/// The last record that was sent to a place.
template <class Hyper>
struct sent_steps {
  Hyper hyper;
  std::int64_t next;

  friend bool operator==(const sent_steps&, const sent_steps&) = default;
};

/// The place's record, which is up to date when the next enqueued update runs.
template <class Backend, class Hyper, class T>
runtime::step_record<Hyper, T>* record_of_steps(const step_arguments<T>& a, const Hyper& hyper) {
  using record = runtime::step_record<Hyper, T>;
  static_assert(std::is_trivially_copyable_v<record> && sizeof(record) <= step_memory_bytes &&
                std::is_trivially_copyable_v<sent_steps<Hyper>> && sizeof(sent_steps<Hyper>) <= step_memory_bytes);
  record* const known = static_cast<record*>(a.step_memory);
  if (!(*static_cast<const sent_steps<Hyper>*>(a.sent) == sent_steps<Hyper>{hyper, a.step}))
    devplace::detail::for_each_index<Backend>(a.ordinal, 1, 1, begin_steps<Hyper, T>{known, hyper, a.step});
  new (a.sent) sent_steps<Hyper>{hyper, a.step + 1};
  return known;
}

}  // namespace devplace::optim::detail
