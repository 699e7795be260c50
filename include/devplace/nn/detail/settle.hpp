// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/nn/detail/replica.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace::nn::detail {

/// Counts an update that a place begins or has finished, in the order of its work.
struct count_functor {
  std::uint64_t* counter;
  DEVPLACE_HD void operator()(std::size_t) const { ++*counter; }
};

/// Whether a device can be used after an operation on it has failed. Where it cannot, nothing need be counted.
template <class Backend, class Tu>
constexpr bool survives_failures() {
  return devplace::detail::events_of<Backend, Tu>().survives_failures;
}

/// From here to finish_update the replicas differ.
template <class Backend, class Tu, class T>
void begin_update(model_state<T>& state) {
  ++state.updates;
  if constexpr (survives_failures<Backend, Tu>())
    for (const auto& r : state.replicas)
      devplace::detail::for_each_index<Backend, Tu>(r.ordinal, 1, 1, count_functor{r.update_counters()});
}
template <class Backend, class Tu, class T>
void finish_update(model_state<T>& state) {
  if constexpr (survives_failures<Backend, Tu>())
    for (const auto& r : state.replicas)
      devplace::detail::for_each_index<Backend, Tu>(r.ordinal, 1, 1, count_functor{r.update_counters() + 1});
}

/// Why a model is unusable after an update that was done in part.
inline const char* partial_update_text(std::size_t places) {
  return places == 1
             ? "an update of its parameters failed when it had begun, so it may be done in part; make the model "
               "anew, or copy one that was saved before."
             : "an update of its parameters failed on some places when others had begun it, so the replicas "
               "differ; make the model anew, or copy one that was saved before.";
}

/// After a failure, when all devices have come to rest: an update that no place has begun is forgotten, and the model
/// is as before it. Where one was done in part, the model is marked as unusable.
template <class Backend, class Tu, class T>
void judge_updates(model_state<T>& state) {
  if constexpr (!survives_failures<Backend, Tu>()) {
    state.unusable = "a device failed, and CUDA gives a failed device back to no process; start the program anew.";
  } else {
    std::uint64_t first[2] = {};
    for (std::size_t k = 0; k < state.replicas.size(); ++k) {
      const auto& r = state.replicas[k];
      std::uint64_t counters[2];
      devplace::detail::copy_out<Backend, Tu>(r.ordinal, counters, r.update_counters(), sizeof counters);
      if (k == 0) first[0] = counters[0], first[1] = counters[1];
      if (counters[0] != counters[1] || counters[0] != first[0] || counters[1] != first[1]) {
        state.unusable = partial_update_text(state.replicas.size());
        return;
      }
    }
    state.updates = state.updates_before + first[1];
  }
}

template <class Backend, class Tu, class T>
std::uint64_t failures_of(const model_state<T>& state) {
  std::uint64_t failures = 0;
  for (const auto& r : state.replicas)
    failures += devplace::detail::failure_count<Backend, Tu>(r.ordinal);
  return failures;
}

template <class T>
std::vector<int> ordinals_of(const model_state<T>& state) {
  std::vector<int> ordinals;
  for (const auto& r : state.replicas)
    ordinals.push_back(r.ordinal);
  return ordinals;
}

/// Waits for all places of a model until none has failed that nobody has seen, judges the model where one had, and
/// returns the first failure.
template <class Backend, class Tu, class T>
devplace::detail::replica_failure come_to_rest(model_state<T>& state) {
  const std::vector<int> ordinals = ordinals_of(state);
  devplace::detail::replica_failure first;
  std::uint64_t failures = 0;
  do {  // other threads' work may fail on these devices meanwhile
    failures = failures_of<Backend, Tu>(state);
    const auto failed = devplace::detail::drain_replicas<Backend, Tu>(ordinals);
    if (!first.failure) first = failed;
  } while (failures_of<Backend, Tu>(state) != failures);
  if (first.failure || failures != state.failures) {
    judge_updates<Backend, Tu>(state);
    state.failures = failures;
  }
  return first;
}

/// After an exception on the host in the middle of an update. What fails on devices meanwhile is dropped: of several
/// errors the first is thrown.
template <class Backend, class Tu, class T>
void judge_interrupted_update(model_state<T>& state) {
  static_cast<void>(come_to_rest<Backend, Tu>(state));
  if constexpr (survives_failures<Backend, Tu>())
    judge_updates<Backend, Tu>(state);
  else if (state.unusable.empty())
    state.unusable = partial_update_text(state.replicas.size());
}

/// Waits for all places of a model. If something has failed on one of them, throws that, with the name of the replica
/// on which it began; all places work again then, and what they were to do after the failure was not done.
template <class Backend, class Tu, class T>
void settle(model_state<T>& state) {
  const auto failed = come_to_rest<Backend, Tu>(state);
  if (failed.failure) devplace::detail::throw_failure<Backend>(failed, ordinals_of(state));
}

/// The same without waiting, where nothing has failed so far. A model that an update has left unusable throws that,
/// whoever has seen the failure.
template <class Backend, class Tu, class T>
void settle_after_failures(model_state<T>& state) {
  if (failures_of<Backend, Tu>(state) != state.failures) settle<Backend, Tu>(state);
  require_usable(state);
}

}  // namespace devplace::nn::detail
