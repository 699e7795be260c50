// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/place/error.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::runtime {

/// One replica's arenas: parameters, gradients (with two sums behind them) and buffers, each one block with the same
/// constexpr offsets on every place; and the sums of its last loss.
template <class T>
struct replica {
  int ordinal = 0;
  devplace::detail::memory_block parameters;
  devplace::detail::memory_block gradients;
  devplace::detail::memory_block buffers;
  devplace::detail::memory_block sums;

  T* parameter_data() const { return static_cast<T*>(parameters.data()); }
  T* gradient_data() const { return static_cast<T*>(gradients.data()); }
  T* buffer_data() const { return static_cast<T*>(buffers.data()); }
  /// The last step's sums of losses and of weights.
  T* loss_sums() const { return static_cast<T*>(sums.data()); }
};

/// What a model keeps beside its type: shared with leases and saved activations, so that they notice misuse.
template <class T>
struct model_state {
  std::vector<replica<T>> replicas;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;             ///< training passes so far: keys random layers
  std::uint64_t gradient_writes = 0;  ///< backward passes so far: they overwrite, or add to, the gradients
  std::uint64_t updates = 0;   ///< optimizer steps so far: activations saved before one do not fit the parameters after
  std::uint64_t failures = 0;  ///< of the model's devices when it was made: any more make it unusable
  void (*settle_after_failures)(model_state&) = nullptr;  ///< looks for them; runtime/settle.hpp
  bool gradients_out = false;                             ///< a lease of the gradient arenas exists
  std::string unusable;  ///< why nothing can be done with the model any more; empty: it can
};

/// Replica k; throws where there is none.
template <class T>
const replica<T>& replica_at(const model_state<T>& state, std::size_t k) {
  if (k >= state.replicas.size())
    throw argument_error("there is no replica number " + std::to_string(k) + " among " +
                         std::to_string(state.replicas.size()) + ", counted from 0.");
  return state.replicas[k];
}

/// Calls `f()` for replica k; what it throws gets the replica's name where there are several.
template <class Backend, class T, class F>
void on_behalf_of(const model_state<T>& state, std::size_t k, F&& f) {
  devplace::detail::on_behalf_of_replica<Backend>(k, state.replicas.size(), state.replicas[k].ordinal, f);
}

/// Why a model is unusable after a failure on one of its devices.
inline constexpr const char* failed_device_text =
    "one of its devices failed, so what it was asked to do there may be done in part or not at all; make the model "
    "anew, or copy one that was saved before. Its trainers and optimizers are to be made anew too.";

/// Why a model is unusable after an exception in the middle of an update.
inline constexpr const char* partial_update_text =
    "an update of its parameters was asked for in part when an exception ended it; make the model anew, or copy one "
    "that was saved before. Its trainers and optimizers are to be made anew too.";

/// Throws where a failure has made the model unusable.
template <class T>
void require_usable(const model_state<T>& state) {
  if (!state.unusable.empty()) throw error("this model cannot be used any more: " + state.unusable);
}

}  // namespace devplace::runtime
