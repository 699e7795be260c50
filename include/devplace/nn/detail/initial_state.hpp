// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/initialize.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/runtime/model_state.hpp>
#include <devplace/runtime/wait_for_model.hpp>

namespace devplace::nn::detail {

/// Access to models for predictors and for functions that make models from other models.
struct model_access {
  template <class Model> static Model adopt(std::shared_ptr<typename Model::state_type> state) {
    return Model(std::move(state));
  }
  /// Returns the state of a usable model; predictions keep workspaces there.
  template <class Model> static auto& live(const Model& m) { return *m.live(); }
};

/// Moves parameters and buffers to memory that other processes can map, if `Where` is shared_memory.
template <class Where, class S>
std::shared_ptr<runtime::model_state<S>> in_memory_of(std::shared_ptr<runtime::model_state<S>> state) {
  if constexpr (std::is_same_v<Where, shared_memory>)
    for (auto* const arena : {&state->replicas[0].parameters, &state->replicas[0].buffers}) {
      auto shared = devplace::detail::allocate_on<Where>(arena->bytes(), memory_purpose::parameters);
      devplace::detail::copy_within<backend::cpu>(0, shared.data(), arena->data(), arena->bytes());
      *arena = std::move(shared);
    }
  return state;
}

/// Initialises replicas from the seed and the names of parameters and buffers. The values are equal on all places and
/// for any number of threads.
template <class Net, class S, class Backend>
std::shared_ptr<runtime::model_state<S>> drawn_state(std::span<const int> ordinals, std::uint64_t seed) {
  using plan = runtime::network_plan<Net>;
  auto state = runtime::empty_state<S, Backend>(
      ordinals, {plan::parameter_elements, plan::buffer_elements, plan::frozen_elements});
  state->seed = seed;
  for (const runtime::replica<S>& r : state->replicas) {
    const auto draw_into = [&r, seed](typename runtime::replica<S>::parameter* arena) {
      return [&r, seed, arena](const std::string& name, const parameter& entry, std::size_t offset) {
        initialize_into<Backend>(r.ordinal, arena + offset, entry.shape.size(), entry.init, seed, name);
      };
    };
    plan::visit_parameters(draw_into(r.parameter_data()));
    plan::visit_buffers(draw_into(r.buffer_data()));
  }
  runtime::wait_for_model<Backend>(*state);
  return state;
}

}  // namespace devplace::nn::detail
