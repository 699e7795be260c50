// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/optim/option_range.hpp>
#include <devplace/runtime/model_state.hpp>
#include <devplace/train/detail/loss_scaler.hpp>
#include <devplace/train/training_state.hpp>

namespace devplace::train::detail {

/// Reads the sums of losses and weights since the last reset over a process's places. `pending`: includes the batches
/// after the last update.
template <class Backend, class State, class T, std::size_t Places>
std::array<double, 2> read_losses(const State& state, const std::array<step_memory<T>, Places>& memory, bool pending) {
  std::array<double, 2> sums{};
  for (std::size_t k = 0; k < Places; ++k) {
    double totals[4];
    devplace::detail::copy_out<Backend>(state.replicas[k].ordinal, totals, memory[k].totals(), sizeof totals);
    for (std::size_t i = 0; i < 2; ++i) sums[i] += pending || memory[k].counts ? totals[i] + totals[2 + i] : totals[i];
  }
  return sums;
}

/// Completes an arena of which each process has only its places' shares, by the communication that gathers parameters.
template <class Backend, class S, class Connection, class T>
void gather_arena(const runtime::model_state<S>& state, Connection& connection, std::vector<T>& arena) {
  runtime::model_state<S> gathered;
  gathered.ordinals = state.ordinals;
  const std::size_t bytes = arena.size() * sizeof(T);
  for (const runtime::replica<S>& r : state.replicas) {
    runtime::replica<S>& to = gathered.replicas.emplace_back();
    to.ordinal = r.ordinal;
    to.parameters = devplace::detail::allocate<Backend>(r.ordinal, bytes, memory_purpose::workspace);
    devplace::detail::copy_in<Backend>(r.ordinal, to.parameters.data(), arena.data(), bytes);
  }
  connection.send_updates(gathered);
  devplace::detail::wait_for_replicas<Backend>(gathered.ordinals);
  devplace::detail::copy_out<Backend>(gathered.ordinals.front(), arena.data(),
                                      gathered.replicas.front().parameters.data(), bytes);
}

/// Copies a training to the host. Its places must be idle and have accumulated no batches.
template <class Backend, class State, class Optimizer, class T, std::size_t Places, bool Scales, class Connection>
auto read_training(State& state, const Optimizer& optimizer, const std::array<step_memory<T>, Places>& memory,
                   [[maybe_unused]] const loss_scaler<Scales>& scaled, [[maybe_unused]] Connection& connection) {
  const auto& first = state.replicas.front();
  constexpr bool in_shares = requires { state.shares; };
  const auto copied = [&](const devplace::detail::memory_block& arena) {
    std::vector<T> values(arena.bytes() / sizeof(T));
    devplace::detail::copy_out<Backend>(first.ordinal, values.data(), arena.data(), arena.bytes());
    return values;
  };
  training_state<typename Optimizer::saved_rule, T> result{state.seed,        state.step, {}, copied(first.buffers),
                                                           optimizer.state(), {},         {}, {}};
  if constexpr (in_shares)
    result.parameters = state.whole_parameters();
  else
    result.parameters = copied(first.parameters);
  if constexpr (in_shares)
    for (auto& arena : result.optimizer.arenas) state.complete(arena);
  else if constexpr (Connection::shares_over_processes)
    for (auto& arena : result.optimizer.arenas) gather_arena<Backend>(state, connection, arena);
  const auto losses = read_losses<Backend>(state, memory, false);
  result.losses.assign(losses.begin(), losses.end());
  if constexpr (Scales) {
    result.scaling = scaled.options;
    result.scaler = read_scale<Backend>(first.ordinal, memory[0]);
  }
  return result;
}

/// Throws argument_error unless a state has the sizes of a training of this network. `caller` begins the message.
template <class Net, class Rule, class T> void require_fit(const training_state<Rule, T>& whole, const char* caller) {
  using plan = runtime::network_plan<Net>;
  bool fits = whole.parameters.size() == plan::arena_elements && whole.buffers.size() == plan::buffer_elements;
  for (const auto& arena : whole.optimizer.arenas) fits = fits && arena.size() == plan::parameter_elements;
  if (!fits)
    throw argument_error(std::string(caller) +
                         ": the state belongs to another network; give the state of a trainer of this network.");
}

/// Restores an idle training of these types, on any placement, from a state.
template <class Net, class Backend, class State, class Optimizer, class Rule, class T, std::size_t Places, bool Scales>
void write_training(State& state, Optimizer& optimizer, std::array<step_memory<T>, Places>& memory,
                    [[maybe_unused]] loss_scaler<Scales>& scaled, const training_state<Rule, T>& from) {
  require_fit<Net>(from, "trainer");
  if constexpr (Scales) {
    optim::validate(from.scaling);
    require_scaler_state(from.scaler);
  }
  optimizer.restore(from.optimizer);
  state.seed = from.seed;
  state.step = from.passes;
  runtime::set_arenas<Backend>(state, from.parameters.data(), from.buffers.data());
  std::array<double, 4> totals[Places] = {};
  for (std::size_t i = 0; i < from.losses.size(); ++i) totals[0][i % 2] += from.losses[i];
  for (std::size_t k = 0; k < Places; ++k) {
    devplace::detail::copy_in<Backend>(state.replicas[k].ordinal, memory[k].totals(), totals[k].data(),
                                       sizeof totals[k]);
    memory[k].counts = false;
  }
  if constexpr (Scales) {
    scaled.options = from.scaling;
    set_scale<Backend>(state, memory, from.scaler);
  }
}

}  // namespace devplace::train::detail
