// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>

#include <devplace/nn/model.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/process_group.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/settle.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Gives every place of a model the parameters and buffers of the first one, which is rank 0's across processes: those
/// of this thread's process_scope, all of which call it, for programs where one process reads a file. The processes'
/// seed and number of passes, from which dropout draws, become rank 0's too. Complete when the call returns; what
/// forward saved before is stale; optimizers keep their state. Throws error without a process_scope, and failures of
/// places and processes; some parameters may be the new ones then.
template <class Net, placement Where, precision P>
void broadcast_parameters(model<Net, Where, P>& m) {
  using backend_type = placement_backend_t<Where>;
  auto& state = m.state();
  const runtime::sole_use use(state);
  runtime::wait_for_model<backend_type>(state);
  ++state.updates;
  state.working_copies_are_old = true;
  [[maybe_unused]] const auto spread = [&](auto communicator) {
    parallel::broadcast_parameters<Net, true>(communicator, state);
    parallel::broadcast_buffers<Net>(communicator, state);
  };
  if constexpr (spans_processes<Where>) {
    const process_group processes = parallel::current_processes("broadcast_parameters");
    spread(collective::direct{}.connect_across<backend_type>(state.ordinals, processes));
    const auto of_first = processes.broadcast(std::array{state.seed, state.step});
    state.seed = of_first[0];
    state.step = of_first[1];
  } else if constexpr (local_place_count<Where> > 1) {
    spread(collective::direct{}.connect<backend_type>(state.ordinals));
  }
  runtime::wait_for_model<backend_type>(state);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
