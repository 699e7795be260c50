// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>

#include <devplace/nn/model.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/runtime/replica.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Copies the parameters and buffers of a model's first place to the other places. Across processes it copies from rank
/// 0, for programs in which one process reads a file. All processes of this thread's process_scope call it, and all
/// get rank 0's seed and number of passes, which determine dropout's random numbers. Complete when the call returns.
/// Invalidates activations saved by forward; optimizers keep their state. Throws error if there is no process_scope. It
/// also throws failures of places and processes; some parameters may then be overwritten already.
template <class Net, placement Where, precision P> void broadcast_parameters(model<Net, Where, P>& m) {
  using backend_type = placement_backend_t<Where>;
  auto& state = m.state();
  const runtime::sole_use use(state);
  runtime::wait_for_model<backend_type>(state);
  ++state.updates;
  state.working_copies_are_old = true;
  [[maybe_unused]] const auto broadcast_all = [&](auto communicator) {
    parallel::broadcast_parameters<Net, true>(communicator, state);
    parallel::broadcast_buffers<Net>(communicator, state);
  };
  if constexpr (spans_processes<Where>) {
    const process_group processes = parallel::current_processes("broadcast_parameters");
    broadcast_all(collective::direct{}.connect_across<backend_type>(state.ordinals, processes));
    const auto seed_and_step = processes.broadcast(std::array{state.seed, state.step});
    state.seed = seed_and_step[0];
    state.step = seed_and_step[1];
  } else if constexpr (local_place_count<Where> > 1) {
    broadcast_all(collective::direct{}.connect<backend_type>(state.ordinals));
  }
  runtime::wait_for_model<backend_type>(state);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
