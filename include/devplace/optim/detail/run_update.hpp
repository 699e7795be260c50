// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include <devplace/ops/for_each.hpp>
#include <devplace/optim/detail/step_record.hpp>
#include <devplace/optim/detail/update_loops.hpp>
#include <devplace/optim/optimizer_concept.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, n, update)`: an optimizer's update of n elements by the numbers of its step, then those of the next
/// one (optim/detail/step_record.hpp). `update.numbers()` are what optim/detail/updates.hpp has.
struct update {};

}  // namespace op

namespace optim::detail {

/// A whole step as one index functor over the arena.
template <class Numbers>
struct update_functor {
  Numbers numbers;

  DEVPLACE_HD void operator()(std::size_t i) const { numbers.element(i, numbers.source.factor()); }
  void range(std::size_t begin, std::size_t end) const { update_range(numbers, begin, end); }
};

/// Elements that are worth a thread, some microseconds of work. A multiple of every vector's lanes, so that the same
/// elements are left over after whole vectors, and the same bits come out, for every number of threads.
inline constexpr std::size_t update_grain = 8192;

/// Tells a place the hyperparameters, and which step comes next.
template <class Hyper, class T>
struct begin_steps {
  step_record<Hyper, T>* record;
  Hyper hyper;
  std::int64_t step;
  DEVPLACE_HD void operator()(std::size_t) const { record->begin(hyper, step); }
};

/// What a place knows by what it was sent.
template <class Hyper>
struct sent_steps {
  Hyper hyper;
  std::int64_t next;

  friend bool operator==(const sent_steps&, const sent_steps&) = default;
};

/// The place's record, up to date when the update runs that is asked for next.
template <class Backend, class Hyper, class T>
step_record<Hyper, T>* record_of_steps(const step_arguments<T>& a, const Hyper& hyper) {
  using record = step_record<Hyper, T>;
  static_assert(std::is_trivially_copyable_v<record> && sizeof(record) <= step_memory_bytes &&
                std::is_trivially_copyable_v<sent_steps<Hyper>> && sizeof(sent_steps<Hyper>) <= step_memory_bytes);
  record* const known = static_cast<record*>(a.step_memory);
  if (!(*static_cast<const sent_steps<Hyper>*>(a.sent) == sent_steps<Hyper>{hyper, a.step}))
    devplace::detail::for_each_index<Backend>(a.ordinal, 1, 1, begin_steps<Hyper, T>{known, hyper, a.step});
  new (a.sent) sent_steps<Hyper>{hyper, a.step + 1};
  return known;
}

template <class Backend, class Update>
void run_update(int ordinal, std::size_t n, const Update& update) {
  if (n != 0) devplace::detail::dispatch<op::update, Backend>(ordinal, n, update);
}

}  // namespace optim::detail

template <>
struct implementation<backend::cpu, op::update> {
  template <class Update>
  static void run(int ordinal, std::size_t n, const Update& update) {
    using functor = optim::detail::update_functor<decltype(update.numbers())>;
    implementation<backend::cpu, op::for_each>::run(ordinal, n, optim::detail::update_grain, functor{update.numbers()});
    update.steps->advance();
  }
};

}  // namespace devplace

#include DEVPLACE_CUDA_BACKEND(update)
