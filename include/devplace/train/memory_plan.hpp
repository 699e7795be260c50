// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/optim/clip_norm.hpp>
#include <devplace/optim/on_host.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/option_groups.hpp>
#include <devplace/parallel/bucket_plan.hpp>
#include <devplace/parallel/bucket_shares.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/shared_layout.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/runtime/predict.hpp>

namespace devplace {

namespace literals {

/// 2^10, 2^20 and 2^30 bytes.
///@{
constexpr std::size_t operator""_KiB(unsigned long long n) { return static_cast<std::size_t>(n) << 10; }
constexpr std::size_t operator""_MiB(unsigned long long n) { return static_cast<std::size_t>(n) << 20; }
constexpr std::size_t operator""_GiB(unsigned long long n) { return static_cast<std::size_t>(n) << 30; }
///@}

}  // namespace literals

/// The number of processes that memory_plan assumes for a model on `across<...>`: `processes<4>`.
template <std::size_t Count> struct processes {};

/// Bytes that training needs on the place with the largest demand, known at compile time:
/// `static_assert(memory_plan<model_t, batch<64>, optim::adam>::bytes < 8_GiB)`. Counts all allocations of model,
/// optimizer and trainer; the sum is also the peak (`memory_usage::peak`). Not included are:
/// - batches (`loader`), class weights, `clipping` and `loss_gradient`;
/// - allocations once per process: on a GPU `gpu_workspace`, 32 MiB more if the network has convolutions, and 256 MiB
///   more if cuDNN's engines need them; on the CPU the packing buffers of the matrix engine (one set per thread);
/// - copies of gradients that `collective::direct` makes on devices without access to each other's memory, up to 1 MiB
///   for each other place;
/// - the workspace that a model keeps after a prediction or after `accuracy`: `memory_plan<model_t,
///   batch<n>>::activations`; and further memory while `accuracy` runs (member `accuracy`).
///
/// Pinned memory of optim::on_host is in member `host_state` alone.
///
/// Without a rule, `memory_plan<model_t, batch<1024>>` plans the model and `predict_into(outputs, samples,
/// batch<1024>{})`, for row-major batches and one call at a time; `memory_plan<predictor_t, batch<1024>>` plans a
/// predictor made for this batch.
///
/// For a model across processes the last argument is the number of processes, and the batch is the whole batch:
/// `memory_plan<model<net, across<cuda<0>>>, batch<256>, optim::adam, collective::sharded_all_reduce<>, processes<4>>`.
/// The host memory through which processes exchange gradients is not included (member `exchange`).
template <class Model, class Batch, class Rule = void, class Policy = collective::all_reduce<>, class Processes = void>
struct memory_plan {
  static_assert(detail::accepted<Batch>,
                "devplace: memory_plan: the arguments are a model with its placement, a batch and an optimizer: "
                "memory_plan<model<Net, Where>, batch<64>, optim::adam>.");
  static constexpr std::size_t bytes = 0;  ///< none
};

namespace train::detail {

/// Bytes that a trainer needs on a place in addition to model and optimizer.
template <class Net, class P> struct step_layout {
  using run = runtime::pass_layout<Net, P>;
  using roles = precision_traits<P>;

  /// Saved activations, output and scratch of the pass.
  static constexpr std::size_t pass(std::size_t rows) { return run::workspace_bytes(rows, nn::mode::train); }
  /// Whether the loss works on a copy of 16-bit outputs. Their gradient overwrites the copy.
  static constexpr bool copies_outputs = !std::is_same_v<typename roles::activation, typename roles::accumulator>;
  /// Whether the gradient of the outputs overwrites them, because backward does not read them.
  static constexpr bool overwrites_outputs =
      !run::plan::keeps_output && std::is_same_v<typename run::output_element, typename roles::activation>;
  static constexpr std::size_t output_gradient(std::size_t rows) {
    return overwrites_outputs ? 0
                              : runtime::padded_bytes(runtime::sample_size<typename run::output_extents> * rows *
                                                      sizeof(typename roles::activation));
  }
  /// Bytes of the gradient from a loss that must not overwrite its outputs (nn::overwrites_output), until it replaces
  /// the outputs. In mixed precision every loss overwrites the copy of the outputs.
  static constexpr std::size_t separate_gradient(std::size_t rows) {
    return overwrites_outputs && !copies_outputs ? run::output_bytes(rows) : 0;
  }
  /// Number of rows of one output along its last axis: some losses have one value per row.
  static constexpr std::size_t rows_of_output = [] {
    using output = typename run::output_extents;
    if constexpr (output::rank == 0)
      return std::size_t{1};
    else
      return runtime::sample_size<output> / std::max(output::static_extent(output::rank - 1), std::size_t{1});
  }();
  static constexpr std::size_t output_copy(std::size_t rows) {
    return copies_outputs ? runtime::padded_bytes(runtime::sample_size<typename run::output_extents> * rows *
                                                  sizeof(typename roles::accumulator))
                          : 0;
  }
  static constexpr std::size_t workspace(std::size_t rows, bool separates_gradient = false) {
    return (separates_gradient ? separate_gradient(rows) : 0) + pass(rows) + output_gradient(rows) + output_copy(rows) +
           runtime::padded_bytes(rows * rows_of_output * sizeof(typename roles::accumulator));
  }
};

/// The sums of losses over steps, and the factor and norm of clipping: a cache line each.
inline constexpr std::size_t scalar_bytes = 2 * devplace::detail::alignment;

/// Workspace of operations on a GPU, per place and process: the sum of cuda_product_workspace and
/// cuda_reduction_workspace (backend/cuda/workspace.hpp).
inline constexpr std::size_t gpu_workspace_bytes = (std::size_t{32} << 20) + (std::size_t{516} << 10);

/// Number of processes that share a batch; `Processes` is void for a single process.
template <class Processes> inline constexpr std::size_t process_count = 1;
template <std::size_t Count> inline constexpr std::size_t process_count<processes<Count>> = Count;

/// Bytes that a model allocates on each place, and the place's number of samples.
template <class Net, class Where, class P, std::size_t Samples, class Processes> struct model_layout {
 protected:
  using roles = precision_traits<P>;
  using storage = runtime::replica<typename roles::storage>;
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
  /// The parameters' arena, including padding between parameters.
  static constexpr std::size_t parameters = plan::arena_elements * sizeof(typename roles::parameter);
  /// The part of the parameters' arena for frozen parameters, which have no gradients and no optimizer state.
  static constexpr std::size_t frozen = plan::frozen_elements * sizeof(typename roles::parameter);
  /// The working copy of the parameters, if layers read another type.
  static constexpr std::size_t working_copy =
      storage::has_working_copy ? plan::arena_elements * sizeof(typename roles::working) : 0;
  /// The gradients with their tail (runtime::gradient_tail). Allocated by a
  /// trainer or the first backward.
  static constexpr std::size_t gradients =
      (plan::parameter_elements + runtime::gradient_tail) * sizeof(typename roles::gradient);
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

}  // namespace train::detail

/// The plan of a model that predicts.
template <class Net, class Where, class P, std::size_t Samples, class Policy, class Processes>
  requires(!stores_shares<Where>)
struct memory_plan<model<Net, Where, P>, batch<Samples>, void, Policy, Processes>
    : train::detail::model_layout<Net, Where, P, Samples, Processes> {
 private:
  using base = train::detail::model_layout<Net, Where, P, Samples, Processes>;

 public:
  /// 0: only training allocates gradients.
  static constexpr std::size_t gradients = 0;
  /// The workspace of a tile, the samples that a prediction computes at a time.
  static constexpr std::size_t activations = runtime::tile_bytes<Net, P>(base::rows);
  /// Sums of losses, which every model has.
  static constexpr std::size_t sums = runtime::loss_sums_bytes;
  /// The total.
  static constexpr std::size_t bytes = base::parameters + base::working_copy + base::buffers + activations + sums;
};

/// The plan of a predictor for batches of `Samples` samples, including space for the samples of a view with strides.
template <class Net, class Where, class P, std::size_t Samples, class Policy, class Processes>
struct memory_plan<predictor<Net, Where, P>, batch<Samples>, void, Policy, Processes>
    : memory_plan<model<Net, Where, P>, batch<Samples>, void, Policy, Processes> {
 private:
  using base = memory_plan<model<Net, Where, P>, batch<Samples>, void, Policy, Processes>;
  static constexpr std::size_t packed = runtime::packed_tile_bytes<Net, P>(base::rows);

 public:
  /// The workspace of a tile, the samples that a prediction computes at a time.
  static constexpr std::size_t activations = base::activations + packed;
  /// The total.
  static constexpr std::size_t bytes = base::bytes + packed;
};

/// The plan of a training. All numbers are bytes on the first place, which has the largest demand.
template <class Net, class Where, class P, std::size_t Samples, class Rule, class Policy, class Processes>
  requires(!stores_shares<Where>)
struct memory_plan<model<Net, Where, P>, batch<Samples>, Rule, Policy, Processes>
    : train::detail::model_layout<Net, Where, P, Samples, Processes> {
 private:
  using base = train::detail::model_layout<Net, Where, P, Samples, Processes>;
  static constexpr bool is_policy =
      collective_policy<Policy, placement_backend_t<Where>, typename precision_traits<P>::wire>;
  static_assert(is_policy,
                "devplace: memory_plan: its fourth argument is a collective policy, as in collective::all_reduce<>; "
                "leave accumulate<k> out, which needs no more memory than one batch.");
  using policy_type = std::conditional_t<is_policy, Policy, collective::all_reduce<>>;
  using typename base::plan;
  using typename base::roles;
  using layout = train::detail::step_layout<Net, P>;
  using base::participants;
  using base::rows;
  static constexpr bool in_shares = participants > 1 && collective::updates_shares<policy_type>;
  static constexpr bool on_host = optim::updates_on_host<Rule, placement_backend_t<Where>>;

  /// Number of the parameters that place k of the first process updates, and bytes of the optimizer's state for them.
  ///@{
  static constexpr std::size_t updated([[maybe_unused]] std::size_t k) {
    using shares = parallel::bucket_shares<Net, typename roles::wire, policy_type>;
    if constexpr (in_shares)
      return shares::all_parts(participants, k);
    else
      return plan::parameter_elements;
  }
  static constexpr std::size_t optimizer_bytes(std::size_t k) {
    using shares = parallel::bucket_shares<Net, typename roles::wire, policy_type>;
    using options = optim::option_groups<Net, Rule>;
    std::size_t parts = 1;
    if constexpr (in_shares) parts = shares::buckets;
    return options::template state_bytes<typename roles::state>(updated(k), parts);
  }
  ///@}

 public:
  /// The optimizer's arenas, its step memory and the table of parameters with options of their own; if the policy
  /// divides the update into shares, only the place's shares. 0 if the rule is optim::on_host.
  static constexpr std::size_t optimizer_state = on_host ? 0 : optimizer_bytes(0);
  /// Additional bytes in pinned memory for the places of the first process, which has most: with a rule in
  /// optim::on_host the optimizer's state, a copy of the parameters, and pieces of the gradients.
  static constexpr std::size_t host_state = [] {
    std::size_t sum = 0;
    for (std::size_t k = 0; on_host && k != (in_shares ? local_place_count<Where> : 1); ++k)
      sum += optimizer_bytes(k) + optim::host_copy_bytes<typename roles::state>(updated(k));
    return sum;
  }();
  /// Saved activations, outputs, their gradient, and scratch memory of layers. The gradient overwrites the outputs if
  /// the network's last layer does not keep them for backward, as linear.
  static constexpr std::size_t activations = layout::workspace(rows);
  /// Additional bytes if the loss is a program's own without `overwrites_output` (nn::loss).
  static constexpr std::size_t loss_gradient = layout::separate_gradient(rows);
  /// Sums of losses of the last step and over steps, and the results of clipping.
  static constexpr std::size_t sums = runtime::loss_sums_bytes + train::detail::scalar_bytes;
  /// Workspace of the policy's engine: none for `collective::direct`, a chunk of a bucket for `collective::ring`, the
  /// gradients in 16 bits for `collective::wire`. Across processes `direct` and `ring` use host memory instead.
  static constexpr std::size_t reduction_buffer = [] {
    using engine = typename policy_type::engine_type;
    constexpr bool rounds = requires { typename engine::wire_type; };
    constexpr std::size_t largest = bucket_plan<model<Net, Where, P>, policy_type>::largest;
    constexpr std::size_t bucket = rounds ? plan::parameter_elements : largest;
    constexpr std::size_t reduced_integers = rounds ? 0 : plan::reduction_integers;
    if constexpr (participants == 1)
      return std::size_t{0};
    else if constexpr (requires { engine::bucket_workspace_bytes(participants, largest); })
      return engine::workspace_bytes_across(bucket) + engine::bucket_workspace_bytes(participants, largest);
    else if constexpr (spans_processes<Where>)
      return std::max(collective::workspace_bytes_across<policy_type>(bucket),
                      collective::workspace_bytes_across<policy_type>(reduced_integers));
    else
      return std::max(engine::workspace_bytes(participants, bucket, sizeof(typename roles::wire)),
                      engine::workspace_bytes(participants, reduced_integers, sizeof(std::int64_t)));
  }();
  /// Additional bytes if the trainer clips: the integers of the norm. In mixed<half> every trainer needs them to detect
  /// gradients that are not finite, and `bytes` includes them.
  static constexpr std::size_t clipping = optim::clip_workspace_size * sizeof(std::int64_t);
  /// The total of the members above; includes `clipping` in mixed<half> only.
  static constexpr std::size_t bytes = base::parameters + base::working_copy + base::gradients + optimizer_state +
                                       base::buffers + activations + sums + reduction_buffer +
                                       (scales_losses<P> ? clipping : 0);
};

}  // namespace devplace
