// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <mutex>

#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/round_elements.hpp>

namespace devplace::runtime {

/// Rounds a replica's first `elements` parameters into its working copy. Asynchronous.
template <class Backend, class S> void round_working_copy(const replica<S>& r, std::size_t elements) {
  round_elements<Backend>(r.ordinal, r.working_data(),
                          static_cast<const typename replica<S>::parameter*>(r.parameter_data()), elements);
}

/// Updates the working copies if the parameters may have changed. Every pass calls this function before its first
/// layer. Code that changes parameters (initialisation, a user's view) only marks the copies as old; optimizers update
/// them. Several threads may call this function concurrently. Asynchronous unless `Wait` is true; concurrent passes
/// on several streams need `Wait`.
template <class Backend, bool Wait = false, class S> void renew_working_copies(model_state<S>& state) {
  if constexpr (replica<S>::has_working_copy) {
    const std::lock_guard lock(state.renewal);
    if (!state.working_copies_are_old) return;
    for (const replica<S>& r : state.replicas)
      round_working_copy<Backend>(r, r.parameters.bytes() / sizeof(typename replica<S>::parameter));
    if constexpr (Wait) devplace::detail::wait_for_replicas<Backend>(state.ordinals);
    state.working_copies_are_old = false;
  }
}

}  // namespace devplace::runtime
