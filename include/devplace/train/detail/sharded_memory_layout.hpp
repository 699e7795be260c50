// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/optim/on_host.hpp>
#include <devplace/optim/option_groups.hpp>
#include <devplace/parallel/fibers.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/sharded_model.hpp>
#include <devplace/parallel/unit_plan.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/train/memory_plan.hpp>

namespace devplace {

namespace train::detail {

/// Bytes that a model in shares allocates on the first place, which has the largest shares.
template <class Net, class Where, class P, std::size_t Samples, class Processes>
struct sharded_layout : model_layout<Net, Where, P, Samples, Processes> {
 protected:
  using base = model_layout<Net, Where, P, Samples, Processes>;
  using base::participants;
  using typename base::roles;
  using shares = parallel::unit_shares<Net, Where, P>;
  using units = typename shares::units;
  using axes = parallel::mesh_axes<Where>;
  static constexpr std::size_t share_count = axes::shares_span ? participants : axes::shares;
  static constexpr std::size_t trained_share = shares::trained(share_count, 0);
  static constexpr std::size_t share = trained_share + shares::frozen(share_count, 0);

 public:
  /// The place's shares of the parameters, including padding between parameters.
  static constexpr std::size_t parameters = share * sizeof(typename roles::parameter);
  /// The shares of frozen parameters, a part of `parameters`.
  static constexpr std::size_t frozen = (share - trained_share) * sizeof(typename roles::parameter);
  /// The shares' working copy, if layers read another type.
  static constexpr std::size_t working_copy =
      base::storage::has_working_copy ? share * sizeof(typename roles::working) : 0;
  /// The parameters of one unit, on devices of two, or of all if they are kept, as layers read them.
  static constexpr std::size_t gathered = units::in_slots.all * sizeof(typename roles::working) +
                                          units::in_slots.masters * sizeof(typename roles::parameter);
};

}  // namespace train::detail

/// The plan of a model in shares that predicts a batch.
template <class Net, stores_shares Where, class P, std::size_t Samples, class Policy, class Processes>
struct memory_plan<model<Net, Where, P>, batch<Samples>, void, Policy, Processes>
    : train::detail::sharded_layout<Net, Where, P, Samples, Processes> {
 private:
  using base = train::detail::sharded_layout<Net, Where, P, Samples, Processes>;

 public:
  /// 0: only training allocates gradients.
  static constexpr std::size_t gradients = 0;
  /// The workspace of the place's part of the batch.
  static constexpr std::size_t activations = runtime::tile_bytes<Net, P>(base::rows);
  /// Sums of losses, which every model has.
  static constexpr std::size_t sums = runtime::loss_sums_bytes;
  /// The total.
  static constexpr std::size_t bytes =
      base::parameters + base::working_copy + base::gathered + base::buffers + activations + sums;
};

/// The plan of a training of a model in shares. All numbers are bytes on the first place, which has the largest demand.
template <class Net, stores_shares Where, class P, std::size_t Samples, class Rule, class Policy, class Processes>
struct memory_plan<model<Net, Where, P>, batch<Samples>, Rule, Policy, Processes>
    : train::detail::sharded_layout<Net, Where, P, Samples, Processes> {
 private:
  using base = train::detail::sharded_layout<Net, Where, P, Samples, Processes>;
  using policy_type =
      std::conditional_t<std::is_same_v<Policy, collective::all_reduce<>>, collective::gather_units<>, Policy>;
  static constexpr bool is_policy = collective::gathers_units<policy_type>;
  static_assert(is_policy,
                "devplace: memory_plan: the policy of a model in shares is collective::gather_units<Engine>; it may be "
                "left out.");
  using typename base::plan;
  using typename base::roles;
  using layout = train::detail::step_layout<Net, P>;
  using units = typename base::units;
  using options = optim::option_groups<Net, Rule>;
  using axes_type = typename base::axes;
  static constexpr bool on_host = optim::updates_on_host<Rule, placement_backend_t<Where>>;

  /// Number of the parameters that place k of the first process updates, and bytes of the optimizer's state for them.
  ///@{
  static constexpr std::size_t updated(std::size_t k) {
    return base::shares::trained(base::share_count, k % axes_type::shares);
  }
  static constexpr std::size_t optimizer_bytes(std::size_t k) {
    return options::template state_bytes<typename roles::state>(updated(k), units::size);
  }
  ///@}

  using engine = typename policy_type::engine_type;
  static constexpr bool rounds = requires { typename engine::wire_type; };

  /// Workspace of the engine along an axis of `n` places, for the gradients of a unit or of a share.
  template <bool Across> static constexpr std::size_t workspace(std::size_t n, std::size_t gradients_of_unit) {
    const std::size_t elements = std::max(gradients_of_unit, runtime::gradient_tail);
    const std::size_t integers = rounds ? 0 : plan::reduction_integers;
    if (n == 1) return 0;
    if constexpr (requires { engine::bucket_workspace_bytes(n, elements); })
      return engine::workspace_bytes_across(elements) + engine::bucket_workspace_bytes(n, elements);
    else if constexpr (Across)
      return std::max(collective::workspace_bytes_across<policy_type>(elements),
                      collective::workspace_bytes_across<policy_type>(integers));
    else
      return std::max(engine::workspace_bytes(n, elements, sizeof(typename roles::wire)),
                      engine::workspace_bytes(n, integers, sizeof(std::int64_t)));
  }

 public:
  /// The gradients of the place's shares, with their tail (runtime::gradient_tail).
  static constexpr std::size_t gradients =
      (base::trained_share + runtime::gradient_tail) * sizeof(typename roles::gradient);
  /// The gradients of one unit, or on devices of two, before they are reduced.
  static constexpr std::size_t unit_gradients = units::in_slots.trained * sizeof(typename roles::gradient);
  /// The optimizer's arenas for the place's shares, its step memory and the table of parameters with options of their
  /// own. 0 if the rule is optim::on_host.
  static constexpr std::size_t optimizer_state = on_host ? 0 : optimizer_bytes(0);
  /// Additional bytes in pinned memory for the places of the first process, which has most: with a rule in
  /// optim::on_host the optimizer's state, a copy of the parameters, and pieces of the gradients.
  static constexpr std::size_t host_state = [] {
    std::size_t sum = 0;
    for (std::size_t k = 0; on_host && k != local_place_count<Where>; ++k)
      sum += optimizer_bytes(k) + optim::host_copy_bytes<typename roles::state>(updated(k));
    return sum;
  }();
  /// As in the plan of a replicated model.
  ///@{
  static constexpr std::size_t activations = layout::workspace(base::rows);
  static constexpr std::size_t loss_gradient = layout::separate_gradient(base::rows);
  static constexpr std::size_t sums = runtime::loss_sums_bytes + train::detail::scalar_bytes;
  static constexpr std::size_t clipping = optim::clip_workspace_size * sizeof(std::int64_t);
  ///@}
  /// Workspace of the policy's engine for a unit: none for `collective::direct`, a chunk for `collective::ring`, the
  /// gradients in 16 bits for `collective::wire`.
  static constexpr std::size_t reduction_buffer =
      workspace<axes_type::shares_span>(base::share_count, units::largest_trained) +
      workspace<axes_type::replicas_span>(base::participants / base::share_count,
                                          parallel::share_begin(units::largest_trained, base::share_count, 1));
  /// The total of the members above; includes `clipping` in mixed<half> only.
  static constexpr std::size_t bytes = base::parameters + base::working_copy + base::gathered + gradients +
                                       unit_gradients + optimizer_state + base::buffers + activations + sums +
                                       reduction_buffer + (scales_losses<P> ? clipping : 0);
};

}  // namespace devplace
