// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/settle.hpp>

namespace devplace::runtime {

/// Number of elements of a replica's arenas, including padding.
struct arena_sizes {
  std::size_t parameters;
  std::size_t buffers;
};

template <class T, class Backend>
replica<T> make_replica(int ordinal, const arena_sizes& sizes) {
  return {ordinal, zeros<T, Backend>(ordinal, sizes.parameters, memory_purpose::parameters),
          zeros<T, Backend>(ordinal, sizes.parameters + gradient_tail, memory_purpose::gradients),
          zeros<T, Backend>(ordinal, sizes.buffers, memory_purpose::parameters),
          zeros<T, Backend>(ordinal, loss_sums_bytes / sizeof(T), memory_purpose::workspace)};
}

/// Replicas of zeros on these devices; throws earlier failures of them. The caller fills them and then calls settle().
template <class T, class Backend>
std::shared_ptr<model_state<T>> empty_state(std::span<const int> ordinals, const arena_sizes& sizes) {
  auto state = std::make_shared<model_state<T>>();
  state->failures = failures_of<Backend>(ordinals);
  devplace::detail::wait_for_replicas<Backend>(ordinals);  // throws earlier failures
  state->replicas.reserve(ordinals.size());
  state->ordinals.assign(ordinals.begin(), ordinals.end());
  for (const int ordinal : ordinals)
    state->replicas.push_back(make_replica<T, Backend>(ordinal, sizes));
  state->settle_after_failures = &settle_after_failures<Backend, T>;
  return state;
}

/// Replicas on these devices with the parameters, buffers and counters of the first replica of `from`, bitwise.
/// Gradients are not copied.
template <class Backend, class FromBackend, class T>
std::shared_ptr<model_state<T>> copied_state(std::span<const int> ordinals, const model_state<T>& from) {
  const replica<T>& first = from.replicas.front();
  auto state =
      empty_state<T, Backend>(ordinals, {first.parameters.bytes() / sizeof(T), first.buffers.bytes() / sizeof(T)});
  state->seed = from.seed;
  state->step = from.step;
  state->updates = from.updates;
  for (const replica<T>& r : state->replicas) {
    copy_arena<Backend, FromBackend>(r.parameters, r.ordinal, first.parameters, first.ordinal);
    copy_arena<Backend, FromBackend>(r.buffers, r.ordinal, first.buffers, first.ordinal);
  }
  settle<Backend>(*state);
  return state;
}

}  // namespace devplace::runtime
