// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/replica.hpp>

namespace devplace::runtime {

/// Numbers of elements of a replica's arenas, including padding. Frozen parameters follow the trained ones, and have no
/// gradients.
struct arena_sizes {
  std::size_t parameters;
  std::size_t buffers;
  std::size_t frozen = 0;
};

/// Allocates a state's replicas of zeros on these devices, replica k with `sizes(k)`; throws earlier failures of the
/// devices. The caller fills the replicas and then calls wait_for_model(). The state refers to `ordinals`.
template <class Backend, class S>
void allocate_replicas(model_state<S>& state, std::span<const int> ordinals, const auto& sizes) {
  using roles = precision_traits<S>;
  using parameter = typename roles::parameter;
  using accumulator = typename roles::accumulator;
  state.failures = failures_of<Backend>(ordinals);
  devplace::detail::wait_for_replicas<Backend>(ordinals);  // throws earlier failures
  state.replicas = std::vector<replica<S>>(ordinals.size());
  state.ordinals = ordinals;
  for (std::size_t k = 0; k < ordinals.size(); ++k) {
    const arena_sizes own = sizes(k);
    const std::size_t parameters = own.parameters + own.frozen;
    replica<S>& r = state.replicas[k];
    r.ordinal = ordinals[k];
    r.trained = own.parameters;
    assign_zeros<parameter, Backend>(r.parameters, r.ordinal, parameters, memory_purpose::parameters);
    if constexpr (replica<S>::has_working_copy)
      assign_zeros<typename roles::working, Backend>(r.working_copy, r.ordinal, parameters, memory_purpose::parameters);
    assign_zeros<parameter, Backend>(r.buffers, r.ordinal, own.buffers, memory_purpose::parameters);
    assign_zeros<accumulator, Backend>(r.sums, r.ordinal, loss_sums_bytes / sizeof(accumulator),
                                       memory_purpose::workspace);
  }
  state.check_failures = &check_failures<Backend, S>;
}

/// Returns the state of a model with equal replicas of zeros; see allocate_replicas().
template <class S, class Backend>
std::shared_ptr<model_state<S>> empty_state(std::span<const int> ordinals, const arena_sizes& sizes) {
  std::shared_ptr<model_state<S>> state(new model_state<S>);  // make_shared would compile to more code
  allocate_replicas<Backend>(*state, ordinals, [&](std::size_t) { return sizes; });
  return state;
}

/// Allocates the gradients at the first use in training and then waits for the places. A model that only predicts needs
/// no gradients.
template <class Backend, class S> void require_gradients(model_state<S>& state) {
  bool more = false;
  for (replica<S>& r : state.replicas) {
    if (r.gradients.data() != nullptr) continue;
    const std::size_t elements = r.trained + gradient_tail;
    assign_zeros<typename replica<S>::gradient, Backend>(r.gradients, r.ordinal, elements, memory_purpose::gradients);
    more = true;
  }
  if (more) wait_for_model<Backend>(state);
}

/// Copies the parameters and buffers of the first replica of `from` to every replica of `state` and waits. Copies are
/// bitwise or, if the type differs, rounded to nearest; copies between precisions go through the host's memory.
template <class Backend, class FromBackend, class S, class FromS>
void copy_parameters(model_state<S>& state, const model_state<FromS>& from) {
  if (static_cast<const void*>(&state) == &from) return;
  const replica<FromS>& first = from.replicas.front();
  const auto copy = [&](auto arena, const devplace::detail::memory_block& source) {
    if constexpr (std::is_same_v<S, FromS>) {
      for (const replica<S>& r : state.replicas)
        devplace::detail::copy_bytes<Backend, FromBackend>(r.ordinal, (r.*arena).data(), first.ordinal, source.data(),
                                                           source.bytes());
    } else {
      std::vector<typename replica<FromS>::parameter> exact(source.bytes() / sizeof(exact[0]));
      devplace::detail::copy_out<FromBackend>(first.ordinal, exact.data(), source.data(), source.bytes());
      const std::vector<typename replica<S>::parameter> rounded(exact.begin(), exact.end());
      for (const replica<S>& r : state.replicas)
        devplace::detail::copy_in<Backend>(r.ordinal, (r.*arena).data(), rounded.data(), (r.*arena).bytes());
    }
  };
  copy(&replica<S>::parameters, first.parameters);
  copy(&replica<S>::buffers, first.buffers);
  ++state.updates;  // makes saved activations stale
  state.working_copies_are_old = true;
  wait_for_model<Backend>(state);
}

/// Sets the parameters and buffers of an idle model from those of a whole model on the host.
template <class Backend, class State, class T> void set_arenas(State& state, const T* parameters, const T* buffers) {
  ++state.updates;  // makes saved activations stale
  state.working_copies_are_old = true;
  constexpr bool in_shares = requires { state.shares; };
  if constexpr (in_shares) state.set_parameters(parameters);
  for (const auto& r : state.replicas) {
    if constexpr (!in_shares)
      devplace::detail::copy_in<Backend>(r.ordinal, r.parameters.data(), parameters, r.parameters.bytes());
    devplace::detail::copy_in<Backend>(r.ordinal, r.buffers.data(), buffers, r.buffers.bytes());
  }
}

/// Allocates replicas on these devices and copies the parameters, buffers and counters of the first replica of `from`
/// (see copy_parameters). Gradients are not copied.
template <class S, class Backend, class FromBackend, class FromS>
std::shared_ptr<model_state<S>> copied_state(std::span<const int> ordinals, const model_state<FromS>& from) {
  const replica<FromS>& first = from.replicas.front();
  constexpr std::size_t element = sizeof(typename replica<FromS>::parameter);
  auto state = empty_state<S, Backend>(
      ordinals, {first.trained, first.buffers.bytes() / element, first.parameters.bytes() / element - first.trained});
  state->seed = from.seed;
  state->step = from.step;
  copy_parameters<Backend, FromBackend>(*state, from);
  return state;
}

}  // namespace devplace::runtime
