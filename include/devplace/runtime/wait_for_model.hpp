// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>

#include <devplace/memory/event.hpp>
#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/runtime/replica.hpp>

namespace devplace::runtime {

template <class Backend> std::uint64_t failures_of(std::span<const int> ordinals) {
  std::uint64_t failures = 0;
  for (const int ordinal : ordinals) failures += devplace::detail::failure_count<Backend>(ordinal);
  return failures;
}

/// Waits for all places of a model. If a device has failed since the model was made, marks the model as unusable and
/// throws the failure. The message names the replica where the failure began. Throws error if another caller has
/// received the failure.
template <class Backend, class S> void wait_for_model(model_state<S>& state) {
  const devplace::detail::replica_failure failed = devplace::detail::drain_replicas<Backend>(state.ordinals);
  if (failed.failure || failures_of<Backend>(state.ordinals) != state.failures)
    state.unusable.store(failed_device_text, std::memory_order_release);
  if (failed.failure) devplace::detail::throw_failure<Backend>(failed, state.ordinals);
  require_usable(state);
}

/// Calls wait_for_model() if a device has failed; does not wait otherwise. Throws if the model is unusable.
template <class Backend, class S> void check_failures(model_state<S>& state) {
  require_usable(state);
  if (failures_of<Backend>(state.ordinals) != state.failures) wait_for_model<Backend>(state);
}

}  // namespace devplace::runtime
