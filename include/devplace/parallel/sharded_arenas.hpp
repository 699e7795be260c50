// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/parallel/fibers.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/unit_plan.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/model_state.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::parallel {

/// The arenas of a model in shares: those of each place have the place's shares alone, trained parameters first. Copies
/// whole models to and from the host.
template <class Net, stores_shares Where, class P>
struct sharded_arenas : runtime::model_state<typename precision_traits<P>::storage> {
  /// The types of elements, places, replicas, shares and units, and the axes of the mesh.
  ///@{
  using roles = precision_traits<P>;
  using parameter = typename roles::parameter;
  using backend_type = placement_backend_t<Where>;
  using replica_type = runtime::replica<typename roles::storage>;
  using shares_type = unit_shares<Net, Where, P>;
  using units = typename shares_type::units;
  using axes = mesh_axes<Where>;
  ///@}
  /// Number of places in this process.
  static constexpr std::size_t places = local_place_count<Where>;

  /// Allocates shares of zeros. All processes call it in their process_scope.
  DEVPLACE_CONFIGURED sharded_arenas()
      : communicator_(std::make_shared<communicator_type>(axes::connect_shares(collective::all_reduce<>{}, "model"))),
        first_rank_(static_cast<std::size_t>(communicator().first_rank())),
        shares(static_cast<std::size_t>(communicator().size())) {
    runtime::allocate_replicas<backend_type>(
        *this, devplace::detail::mesh_of<Where>::ordinals, [this](std::size_t k) -> runtime::arena_sizes {
          return {shares.trained(rank_of(k)), runtime::network_plan<Net>::buffer_elements, shares.frozen(rank_of(k))};
        });
  }

  /// The ordinal of place k of this process.
  int ordinal(std::size_t k) const { return devplace::detail::mesh_of<Where>::ordinals[k]; }
  /// The share that place k of this process has.
  std::size_t rank_of(std::size_t k) const { return first_rank_ + k % axes::shares; }
  /// Connects the places of one replica for predictions and copies. A trainer uses the communicator of its policy.
  auto& communicator() const { return *static_cast<communicator_type*>(communicator_.get()); }

  /// Calls f(k, share) for the shares of this process's places, of trained and of frozen parameters.
  void for_each_share(const auto& f) const {
    for (std::size_t k = 0; k != places; ++k)
      for (std::size_t u = 0; u != units::size; ++u) {
        f(k, shares.trained_share(u, rank_of(k)));
        f(k, shares.frozen_share(u, rank_of(k)));
      }
  }

  /// Returns the parameters of the whole model on the host. All processes call it.
  DEVPLACE_CONFIGURED std::vector<parameter> whole_parameters() {
    std::vector<parameter> whole(runtime::network_plan<Net>::arena_elements);
    for_each_share([&](std::size_t k, const share_of_unit& share) {
      devplace::detail::copy_out<backend_type>(ordinal(k), whole.data() + share.whole.first,
                                               this->replicas[k].parameter_data() + share.at,
                                               share.whole.count * sizeof(parameter));
    });
    complete(whole);
    return whole;
  }
  /// Sets the shares from the parameters of a whole model on the host.
  DEVPLACE_CONFIGURED void set_parameters(const parameter* whole) {
    for_each_share([&](std::size_t k, const share_of_unit& share) {
      devplace::detail::copy_in<backend_type>(ordinal(k), this->replicas[k].parameter_data() + share.at,
                                              whole + share.whole.first, share.whole.count * sizeof(parameter));
    });
  }
  /// Completes an arena on the host that has this process's shares alone: of all parameters, or of the trained ones.
  DEVPLACE_CONFIGURED void complete(std::vector<parameter>& whole) {
    if constexpr (axes::shares_span) {
      std::array<devplace::detail::memory_block, places> copies;
      std::array<parameter*, places> buffers;
      for (std::size_t k = 0; k != places; ++k) {
        copies[k] = devplace::detail::allocate<backend_type>(ordinal(k), units::largest * sizeof(parameter),
                                                             memory_purpose::workspace);
        buffers[k] = static_cast<parameter*>(copies[k].data());
      }
      const auto exchange = [&](std::size_t first, std::span<const std::size_t> begins) {
        if (begins.back() == 0) return;
        const std::size_t bytes = begins.back() * sizeof(parameter);
        for (std::size_t k = 0; k != places; ++k)
          devplace::detail::copy_in<backend_type>(ordinal(k), buffers[k], whole.data() + first, bytes);
        communicator().all_gather(std::span<parameter* const>(buffers), begins);
        devplace::detail::copy_out<backend_type>(ordinal(0), whole.data() + first, buffers[0], bytes);
      };
      constexpr std::size_t trained = runtime::network_plan<Net>::parameter_elements;
      for (std::size_t u = 0; u != units::size; ++u) {
        exchange(units::at(u).trained.first, shares.trained_begins(u));
        if (whole.size() > trained) exchange(trained + units::at(u).frozen.first, shares.frozen_begins(u));
      }
    }
  }

 private:
  using communicator_type = typename mesh_communicators<Where, collective::all_reduce<>>::shares_type;
  std::shared_ptr<void> communicator_;  // its type depends on the configuration
  std::size_t first_rank_;

 public:
  /// The shares of all places along the axis.
  shares_type shares;
};

}  // namespace devplace::parallel
