// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <devplace/parallel/fibers.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/share.hpp>
#include <devplace/parallel/unit_plan.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/train/detail/memory_layout.hpp>

namespace devplace::train::detail {

/// The shares of the first place, which has most, of `Participants` places.
template <class Net, class Where, class P, std::size_t Participants> struct first_share {
  using shares = parallel::unit_shares<Net, Where, P>;
  using axes = parallel::mesh_axes<Where>;
  static constexpr bool fits = Participants % axes::least_participants == 0;
  static_assert(fits,
                "devplace: memory_plan: this mesh of processes needs a multiple of the size that it names: "
                "processes<16> for mesh<replicas<dyn>, shares<8>>.");
  static constexpr std::size_t count =
      fits ? axes::share_count(Participants, "memory_plan") : 1;  ///< of the shares of a model
  static constexpr std::size_t trained = shares::trained(count, 0);
  static constexpr std::size_t frozen = shares::frozen(count, 0);
};

/// Bytes of parameters that a model in shares allocates on the first place.
template <class Net, stores_shares Where, class P, std::size_t Samples, class Processes>
struct model_layout<Net, Where, P, Samples, Processes> : batch_layout<Net, Where, P, Samples, Processes> {
 protected:
  using base = batch_layout<Net, Where, P, Samples, Processes>;
  using typename base::roles;

 private:
  using share = first_share<Net, Where, P, base::participants>;
  using units = typename share::shares::units;
  /// Shared memory of each process of a group of `Count` processes.
  template <std::size_t Count>
  static constexpr std::size_t exchange_of_group = [] {
    constexpr std::size_t portion = parallel::shared_layout::usual_portion(base::participants);
    return Count <= 1 ? 0 : parallel::shared_layout{Count, portion}.bytes() / Count;
  }();

 public:
  /// Additional bytes on the host, as of other models, and for the groups of processes that have a copy of the model or
  /// equal shares: the model and its trainer make groups of their own.
  static constexpr std::size_t exchange =
      base::exchange + (share::axes::in_groups
                            ? 2 * exchange_of_group<share::count> + exchange_of_group<base::participants / share::count>
                            : 0);
  /// The place's shares of the parameters, including padding between parameters.
  static constexpr std::size_t parameters = (share::trained + share::frozen) * sizeof(typename roles::parameter);
  /// The shares of frozen parameters, a part of `parameters`.
  static constexpr std::size_t frozen = share::frozen * sizeof(typename roles::parameter);
  /// The shares' working copy, if layers read another type.
  static constexpr std::size_t working_copy = runtime::replica<typename roles::storage>::has_working_copy
                                                  ? (share::trained + share::frozen) * sizeof(typename roles::working)
                                                  : 0;
  /// The parameters of one unit, on devices of two, or of all if they are kept, as layers read them, and those behind
  /// the rows of a layer in slices.
  static constexpr std::size_t gathered = (units::in_slots.all + units::most_behind) * sizeof(typename roles::working) +
                                          units::in_slots.masters * sizeof(typename roles::parameter);
};

/// Bytes of gradients and of their reduction for a model in shares, and what its places update.
template <class Net, stores_shares Where, class P, class Policy, std::size_t Participants>
struct policy_layout<Net, Where, P, Policy, Participants> {
 private:
  using policy_type =
      std::conditional_t<std::is_same_v<Policy, collective::all_reduce<>>, collective::gather_units<>, Policy>;
  static constexpr bool is_policy = collective::gathers_units<policy_type>;
  static_assert(is_policy,
                "devplace: memory_plan: the policy of a model in shares is collective::gather_units<Engine>; it may be "
                "left out.");
  using roles = precision_traits<P>;
  using share = first_share<Net, Where, P, Participants>;
  using units = typename share::shares::units;
  using axes = typename share::axes;

  /// Workspace along an axis of `places` places, for up to `count` gradients at a time.
  template <bool Across> static constexpr std::size_t workspace(std::size_t places, std::size_t count) {
    const std::size_t most = std::max(count, runtime::gradient_tail);
    return reduction_workspace<policy_type, P, Across>(places, most, most,
                                                       runtime::network_plan<Net>::reduction_integers);
  }

 public:
  /// The gradients of the place's shares, with their tail (runtime::gradient_tail).
  static constexpr std::size_t gradients = (share::trained + runtime::gradient_tail) * sizeof(typename roles::gradient);
  /// The gradients of one unit, or on devices of two, before they are reduced.
  static constexpr std::size_t unit_gradients = units::in_slots.trained * sizeof(typename roles::gradient);
  static constexpr std::size_t row_sums = units::row_sums;
  static constexpr std::size_t states_on_host = local_place_count<Where>;
  static constexpr std::size_t parts = units::size;
  static constexpr std::size_t updated(std::size_t k) { return share::shares::trained(share::count, k % axes::shares); }

  /// Workspace of the policy's engine along the axes of shares and of replicas.
  static constexpr std::size_t reduction_buffer =
      workspace<axes::shares_span>(share::count, units::largest_trained) +
      workspace<axes::replicas_span>(Participants / share::count,
                                     parallel::share_begin(units::largest_trained, share::count, 1));
};

}  // namespace devplace::train::detail
