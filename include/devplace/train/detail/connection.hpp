// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::train::detail {

/// The communicator by which a trainer's policy reduces gradients; without function if there is one participant.
template <class Net, class Where, class P, class Policy>
class connection {
  using roles = precision_traits<P>;
  using backend_type = placement_backend_t<Where>;
  using state_type = runtime::model_state<typename roles::storage>;
  static constexpr bool connects = parallel::can_connect<Policy, Where>;
  static constexpr bool communicates = connects && (spans_processes<Where> || local_place_count<Where> > 1);

  static_assert(
      connects,
      "devplace: trainer: the model lies across processes, and the policy's engine connects the places of one "
      "process; use collective::direct or collective::ring, or give an engine with spans_processes = true "
      "whose communicator knows this process's rank: collective::all_reduce<my_engine>{...}.");
  static_assert(!spans_processes<Where> || Policy::every_place_updates,
                "devplace: trainer: this policy updates on the first place alone, which only one process has; across "
                "processes use collective::all_reduce<my_engine>.");

 public:
  template <devplace::detail::configured = devplace::detail::configuration>
  void connect(const Policy& policy) {
    if constexpr (communicates)
      communicator_ = std::make_shared<communicator_type<>>(
          parallel::connect<backend_type, spans_processes<Where>>(policy, devplace::detail::mesh_of<Where>::ordinals));
  }

  /// The participants of this process.
  template <devplace::detail::configured = devplace::detail::configuration>
  devplace::participants participants() const {
    if constexpr (communicates)
      return {static_cast<std::size_t>(communicator().first_rank()), static_cast<std::size_t>(communicator().size())};
    else
      return {0, 1};
  }

  /// Allocates what reductions need.
  template <devplace::detail::configured = devplace::detail::configuration>
  void prepare() {
    if constexpr (communicates) parallel::prepare_reductions<Net, Policy, typename roles::wire>(communicator());
  }

  /// Makes the gradients whole where the policy updates.
  template <devplace::detail::configured = devplace::detail::configuration>
  void reduce(state_type& state) {
    if constexpr (communicates) parallel::reduce_gradients<Net, Policy>(communicator(), state);
  }

  /// Copies the first place's parameters to the others.
  template <devplace::detail::configured = devplace::detail::configuration>
  void broadcast(state_type& state) {
    if constexpr (communicates) parallel::broadcast_parameters<Net>(communicator(), state);
  }

 private:
  template <class P1 = Policy>
  using communicator_type = decltype(parallel::connect<backend_type, spans_processes<Where>>(std::declval<const P1&>(),
                                                                                             std::span<const int>()));

  auto& communicator() const { return *static_cast<communicator_type<>*>(communicator_.get()); }

  std::shared_ptr<void> communicator_;  // its type depends on the configuration
};

}  // namespace devplace::train::detail
