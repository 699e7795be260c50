// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <mutex>

#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/runtime/replica.hpp>

namespace devplace::runtime {

/// Rounds elements to another type.
template <class To, class From>
struct conversion_functor {
  To* to;
  const From* from;
  DEVPLACE_HD void operator()(std::size_t i) const { to[i] = static_cast<To>(from[i]); }
};

/// Updates the copies of the parameters that layers read, if they have another type and the parameters may have changed
/// since. Called by every pass before its first layer, and the only writer of the copies: code that changes parameters
/// (initialisation, an update, a broadcast, a user's view) only marks them as old. Threads may call it concurrently.
/// Asynchronous, unless `Wait`: for passes of several streams, which the current streams do not order after it.
template <class Backend, bool Wait = false, class S>
void renew_working_copies(model_state<S>& state) {
  using roles = precision_traits<S>;
  if constexpr (replica<S>::has_working_copy) {
    const std::lock_guard lock(state.renewal);
    if (!state.working_copies_are_old) return;
    for (const replica<S>& r : state.replicas)
      devplace::detail::for_each_index<Backend>(
          r.ordinal, r.parameters.bytes() / sizeof(typename roles::parameter), 4096,
          conversion_functor<typename roles::working, typename roles::parameter>{r.working_data(), r.parameter_data()});
    if constexpr (Wait) devplace::detail::wait_for_replicas<Backend>(state.ordinals);
    state.working_copies_are_old = false;
  }
}

}  // namespace devplace::runtime
