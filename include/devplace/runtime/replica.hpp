// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/function_view.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/place/replica_error.hpp>
#include <devplace/runtime/kept_workspaces.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::runtime {

/// One replica's arenas: parameters, the parameters' working copy (read by layers), gradients (with gradient_tail),
/// buffers, and the sums of the last loss. Each arena is one block, with equal constexpr offsets on every place. `S` is
/// the storage of a precision (precision_traits), which names the types.
template <class S> struct replica {
  using roles = precision_traits<S>;
  using parameter = typename roles::parameter;
  using working = typename roles::working;
  using gradient = typename roles::gradient;
  using accumulator = typename roles::accumulator;
  /// If false, layers read the parameters themselves, and `working_copy` is empty.
  static constexpr bool has_working_copy = !std::is_same_v<parameter, working>;

  int ordinal = 0;
  std::size_t trained = 0;  ///< number of elements of the trained parameters, which begin the arenas
  devplace::detail::memory_block parameters;
  devplace::detail::memory_block working_copy;
  devplace::detail::memory_block gradients;
  devplace::detail::memory_block buffers;
  devplace::detail::memory_block sums;

  parameter* parameter_data() const { return static_cast<parameter*>(parameters.data()); }
  working* working_data() const {
    return static_cast<working*>(has_working_copy ? working_copy.data() : parameters.data());
  }
  gradient* gradient_data() const { return static_cast<gradient*>(gradients.data()); }
  /// The elements behind the gradients (runtime/arena.hpp).
  gradient* tail() const { return gradient_data() + trained; }
  parameter* buffer_data() const { return static_cast<parameter*>(buffers.data()); }
  /// The last step's sums of losses and weights.
  accumulator* loss_sums() const { return static_cast<accumulator*>(sums.data()); }
};

/// The state of a model. Leases and saved activations share it, so that they detect misuse.
template <class S> struct model_state {
  std::vector<replica<S>> replicas;
  std::span<const int> ordinals;  ///< ordinals of the replicas' devices
  std::uint64_t seed = 0;
  std::uint64_t step = 0;             ///< number of training passes so far; part of random layers' keys
  std::uint64_t gradient_writes = 0;  ///< number of backward passes so far, which write or accumulate gradients
  std::uint64_t updates = 0;          ///< optimizer steps and assignments so far; each makes saved activations stale
  std::uint64_t writable_views = 0;   ///< number of calls that returned writable views of parameters
  std::uint64_t failures = 0;         ///< failures of devices before construction; later ones make the model unusable
  void (*check_failures)(model_state&) = nullptr;  ///< checks for new failures; see runtime::check_failures
  bool working_copies_are_old = true;              ///< whether passes round the parameters first
  std::mutex renewal;                              ///< protects working_copies_are_old and the rounding
  bool replaced = false;                           ///< whether another model was assigned to this one
  bool gradients_out = false;                      ///< whether a lease of the gradient arenas exists
  kept_workspaces workspaces;                      ///< workspaces of predictions
  std::atomic<bool> in_use = false;                ///< whether a call holds sole_use
  std::atomic<const char*> unusable = nullptr;     ///< why the model can no longer be used; null if usable
};

/// Lock of a call that trains or changes a model; throws if a call of another thread holds the lock. Calls that only
/// read parameters, such as predict, do not lock.
class sole_use {
 public:
  template <class S> explicit sole_use(model_state<S>& state) : in_use_(state.in_use) {
    if (in_use_.exchange(true, std::memory_order_acquire)) throw_in_use();
  }
  sole_use& operator=(sole_use&&) = delete;
  ~sole_use() { in_use_.store(false, std::memory_order_release); }

 private:
  [[noreturn, gnu::noinline]] static void throw_in_use() {
    throw error(
        "two threads train one model at the same time: a model and its trainers belong to one thread at a time. Give "
        "each thread a model of its own, lock a mutex around the calls, or train on several places with "
        "replicated<...>.");
  }

  std::atomic<bool>& in_use_;
};

template <class S> const replica<S>& replica_at(const model_state<S>& state, std::size_t k) {
  if (k >= state.replicas.size())
    throw argument_error(
        {"there is no replica number ", k, ", counted from 0: the model has ", state.replicas.size(), "."});
  return state.replicas[k];
}

/// Calls `f(k)` for the first `count` replicas. If the model has several, exceptions name the replica.
template <class Backend>
void for_each_replica(std::span<const int> ordinals, std::size_t count,
                      devplace::detail::function_view<std::size_t> f) {
  for (std::size_t k = 0; k < count; ++k)
    devplace::detail::on_behalf_of_replica<Backend>(k, ordinals.size(), ordinals[k], [&] { f(k); });
}
template <class Backend, class S>
[[gnu::always_inline]] inline void for_each_replica(const model_state<S>& state, std::size_t count, auto&& f) {
  for_each_replica<Backend>(state.ordinals, count, devplace::detail::function_view<std::size_t>(f));
}

/// Why a model is unusable after a failure on one of its devices.
inline constexpr const char* failed_device_text =
    "one of its devices failed, and work on its parameters was skipped there. Make a new model or copy a saved one, "
    "and make new trainers and optimizers for it.";

/// Why a model is unusable after an exception in the middle of an update.
inline constexpr const char* partial_update_text =
    "an exception ended an update after some of its parameters had been changed. Make a new model or copy a saved one, "
    "and make new trainers and optimizers for it.";

template <class S> void require_usable(const model_state<S>& state) {
  if (const char* const why = state.unusable.load(std::memory_order_acquire))
    throw error(std::string("this model cannot be used any more: ") + why);
}

template <class Backend> std::uint64_t failures_of(std::span<const int> ordinals) {
  std::uint64_t failures = 0;
  for (const int ordinal : ordinals) failures += devplace::detail::events_of<Backend>().failures(ordinal);
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
