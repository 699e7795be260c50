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

#include <devplace/config.hpp>
#include <devplace/nn/draw_elements.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/runtime/model_state.hpp>

namespace devplace::detail {

/// Access to models for predictors and for functions that make models from other models.
struct model_access {
  template <class Model> static Model adopt(std::shared_ptr<typename Model::state_type> state) {
    return Model(std::move(state));
  }
  /// Returns the state of a usable model; predictions keep workspaces there.
  template <class Model> static auto& live(const Model& m) { return *m.live(); }
};

}  // namespace devplace::detail

namespace devplace::nn::detail {

inline namespace DEVPLACE_CONFIGURATION {

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

}  // namespace DEVPLACE_CONFIGURATION

/// Initialises replicas from the seed and the names of parameters and buffers. The values are equal on all places and
/// for any number of threads.
template <class S, class Backend>
std::shared_ptr<runtime::model_state<S>> drawn_state(std::span<const int> ordinals, const runtime::arena_sizes& sizes,
                                                     const visited_layer& parameters, const visited_layer& buffers,
                                                     std::uint64_t seed) {
  auto state = runtime::empty_state<S, Backend>(ordinals, sizes);
  state->seed = seed;
  for (const runtime::replica<S>& r : state->replicas) {
    const auto draw = [&](auto* arena, const visited_layer& entries) {
      const auto draw_entry = [&](const std::string& name, const parameter& entry, std::size_t offset) {
        draw_elements<Backend>(r.ordinal, arena + offset, entry.shape.size(), entry.init, seed, name);
      };
      visit_entries(entries, network_prefix(entries.own_name), {0, sizes.parameters}, entry_visitor(draw_entry));
    };
    draw(r.parameter_data(), parameters);
    draw(r.buffer_data(), buffers);
  }
  runtime::wait_for_model<Backend>(*state);
  return state;
}
template <class Net, class S, class Backend>
std::shared_ptr<runtime::model_state<S>> drawn_state(std::span<const int> ordinals, std::uint64_t seed) {
  using plan = runtime::network_plan<Net>;
  return drawn_state<S, Backend>(ordinals, {plan::parameter_elements, plan::buffer_elements, plan::frozen_elements},
                                 plan::visited_parameters, plan::visited_buffers, seed);
}

}  // namespace devplace::nn::detail
