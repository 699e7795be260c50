// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/divided_up.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/parallel/bucket_plan.hpp>
#include <devplace/parallel/bucket_shares.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/shared_layout.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace {

template <std::size_t Count> struct processes;

namespace train::detail {

/// Workspace of operations on a GPU, per place and process: the sum of cuda_product_workspace and
/// cuda_reduction_workspace (backend/cuda/workspace.hpp).
inline constexpr std::size_t gpu_workspace_bytes = (std::size_t{32} << 20) + (std::size_t{516} << 10);

/// Number of processes that share a batch; `Processes` is void for a single process.
template <class Processes> inline constexpr std::size_t process_count = 1;
template <std::size_t Count> inline constexpr std::size_t process_count<processes<Count>> = Count;

/// Bytes that do not depend on how the places store parameters, and the place's number of samples.
template <class Net, class Where, class P, std::size_t Samples, class Processes> struct batch_layout {
 protected:
  using roles = precision_traits<P>;
  using plan = runtime::network_plan<Net>;
  static_assert(spans_processes<Where> == !std::is_void_v<Processes>,
                "devplace: memory_plan: a model across processes needs the number of processes that share a batch as "
                "the last argument, and other models must not have it: memory_plan<model<Net, across<Local>>, "
                "batch<256>, Rule, collective::all_reduce<>, processes<4>>.");
  static_assert(process_count<Processes> > 0, "devplace: memory_plan: processes<Count> is at least one process.");
  static constexpr std::size_t participants =
      local_place_count<Where> * std::max(process_count<Processes>, std::size_t{1});
  static constexpr std::size_t rows = devplace::detail::divided_up(Samples, participants);

 public:
  /// Buffers of layers.
  static constexpr std::size_t buffers = plan::buffer_elements * sizeof(typename roles::parameter);
  /// Additional bytes if a loader without transforms copies uint8 images (an image_set) to devices: two batches, and
  /// one batch of bytes, which the device scales. 0 on the CPU, where models read the batches in the loader's host
  /// memory.
  static constexpr std::size_t loader = std::is_same_v<placement_backend_t<Where>, backend::cpu>
                                            ? 0
                                            : rows * (runtime::sample_size<typename plan::input> *
                                                          (2 * sizeof(typename plan::template input_element<P>) + 1) +
                                                      2);
  /// Additional bytes on the host for each process of a group that launched_processes connects on one host: its part of
  /// the shared memory that all processes map. RSS counts all parts in each process; PSS counts this number.
  static constexpr std::size_t exchange = parallel::shared_layout::usual_bytes(process_count<Processes>);
  /// Additional bytes once per place on a GPU, for any number of models: workspace of products and reductions,
  /// allocated at first use and kept. Simulated devices have none.
  static constexpr std::size_t gpu_workspace = gpu_workspace_bytes;
  /// Additional bytes while accuracy() runs over batches of this size: a batch's outputs, an integer for each label,
  /// and two sums. Excludes the workspace of predictions (`memory_plan<model, batch<n>>::activations`) and batches.
  static constexpr std::size_t accuracy = [] {
    using output = typename plan::output;
    constexpr std::size_t element = sizeof(typename plan::template output_element<P>);
    constexpr std::size_t outputs = runtime::sample_size<output>, classes = output::static_extent(output::rank - 1);
    return rows * (outputs * element + outputs / classes * sizeof(std::int64_t)) + 2 * sizeof(std::int64_t);
  }();
};

/// Bytes of parameters that a model allocates on the first place, which has most. For models in shares see
/// sharded_memory_layout.hpp.
template <class Net, class Where, class P, std::size_t Samples, class Processes>
struct model_layout : batch_layout<Net, Where, P, Samples, Processes> {
 protected:
  using base = batch_layout<Net, Where, P, Samples, Processes>;
  using typename base::plan;
  using typename base::roles;

 public:
  /// The parameters' arena, including padding between parameters.
  static constexpr std::size_t parameters = plan::arena_elements * sizeof(typename roles::parameter);
  /// The part of the parameters' arena for frozen parameters, which have no gradients and no optimizer state.
  static constexpr std::size_t frozen = plan::frozen_elements * sizeof(typename roles::parameter);
  /// The working copy of the parameters, if layers read another type.
  static constexpr std::size_t working_copy = runtime::replica<typename roles::storage>::has_working_copy
                                                  ? plan::arena_elements * sizeof(typename roles::working)
                                                  : 0;
  /// The parameters that a place of a model in shares gathers from the other places; 0 for other models.
  static constexpr std::size_t gathered = [] {
    constexpr bool has_header = !stores_shares<Where>;
    static_assert(has_header,
                  "devplace: memory_plan: for a model in shares write #include <devplace/fully_sharded.hpp>, which is "
                  "not a part of all.hpp.");
    return std::size_t{0};
  }();
};

/// Workspace of a policy's engine for `participants` places along an axis, which reduces up to `count` gradients at a
/// time, and `integers` of layers. `rounded`: number of gradients of which a rounding engine keeps a copy.
template <class Policy, class P, bool Across>
constexpr std::size_t reduction_workspace(std::size_t participants, std::size_t count, std::size_t rounded,
                                          std::size_t integers) {
  using engine = typename Policy::engine_type;
  constexpr bool rounds = requires { typename engine::wire_type; };
  const std::size_t gradients = rounds ? rounded : count, sums = rounds ? 0 : integers;
  if (participants == 1) return 0;
  if constexpr (requires { engine::bucket_workspace_bytes(participants, count); })
    return engine::workspace_bytes_across(gradients) + engine::bucket_workspace_bytes(participants, count);
  else if constexpr (Across)
    return std::max(collective::workspace_bytes_across<Policy>(gradients),
                    collective::workspace_bytes_across<Policy>(sums));
  else
    return std::max(engine::workspace_bytes(participants, gradients, sizeof(typename precision_traits<P>::wire)),
                    engine::workspace_bytes(participants, sums, sizeof(std::int64_t)));
}

/// Bytes of gradients and of their reduction, and what the places of the first process update. For models in shares see
/// sharded_memory_layout.hpp.
template <class Net, class Where, class P, class Policy, std::size_t Participants> struct policy_layout {
 private:
  static constexpr bool is_policy =
      collective_policy<Policy, placement_backend_t<Where>, typename precision_traits<P>::wire>;
  static_assert(is_policy,
                "devplace: memory_plan: its fourth argument is a collective policy, as in collective::all_reduce<>; "
                "leave accumulate<k> out, which needs no more memory than one batch.");
  using roles = precision_traits<P>;
  using plan = runtime::network_plan<Net>;
  using policy_type = std::conditional_t<is_policy, Policy, collective::all_reduce<>>;
  using shares = parallel::bucket_shares<Net, typename roles::wire, policy_type>;
  static constexpr bool in_shares = Participants > 1 && collective::updates_shares<policy_type>;

 public:
  /// The gradients with their tail (runtime::gradient_tail). Allocated by a trainer or the first backward.
  static constexpr std::size_t gradients =
      (plan::parameter_elements + runtime::gradient_tail) * sizeof(typename roles::gradient);
  /// The gradients of units of a model in shares; 0 for other models.
  static constexpr std::size_t unit_gradients = 0;
  /// See step_layout::workspace().
  static constexpr std::size_t row_sums = 0;

  /// Number of places whose updates have a state of their own if the host makes the updates.
  static constexpr std::size_t states_on_host = in_shares ? local_place_count<Where> : 1;
  /// Number of parts in which a place updates its parameters, and number of parameters that place k updates.
  ///@{
  static constexpr std::size_t parts = in_shares ? shares::buckets : 1;
  static constexpr std::size_t updated(std::size_t k) {
    return in_shares ? shares::all_parts(Participants, k) : plan::parameter_elements;
  }
  ///@}

  static constexpr std::size_t reduction_buffer = reduction_workspace<policy_type, P, spans_processes<Where>>(
      Participants, bucket_plan<model<Net, Where, P>, policy_type>::largest, plan::parameter_elements,
      plan::reduction_integers);
};

}  // namespace train::detail
}  // namespace devplace
