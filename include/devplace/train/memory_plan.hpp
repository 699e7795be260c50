// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/base/refusal.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/optim/clip_norm.hpp>
#include <devplace/optim/on_host.hpp>
#include <devplace/optim/option_groups.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/predict.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/train/detail/memory_layout.hpp>
#include <devplace/train/detail/step_layout.hpp>

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

/// The plan of a model that predicts.
template <class Net, class Where, class P, std::size_t Samples, class Policy, class Processes>
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
  static constexpr std::size_t bytes =
      base::parameters + base::working_copy + base::gathered + base::buffers + activations + sums;
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
struct memory_plan<model<Net, Where, P>, batch<Samples>, Rule, Policy, Processes>
    : train::detail::model_layout<Net, Where, P, Samples, Processes> {
 private:
  using base = train::detail::model_layout<Net, Where, P, Samples, Processes>;
  using base::rows;
  using typename base::roles;
  using layout = train::detail::step_layout<Net, P>;
  using of_policy = train::detail::policy_layout<Net, Where, P, Policy, base::participants>;
  static constexpr bool on_host = optim::updates_on_host<Rule, placement_backend_t<Where>>;
  static constexpr std::size_t optimizer_bytes(std::size_t k) {
    return optim::option_groups<Net, Rule>::template state_bytes<typename roles::state>(of_policy::updated(k),
                                                                                        of_policy::parts);
  }

 public:
  /// The gradients of the parameters, or in shares those of the place's share, with their tail
  /// (runtime::gradient_tail). Allocated by a trainer or the first backward.
  static constexpr std::size_t gradients = of_policy::gradients;
  /// In shares the gradients of one unit, or on devices of two, before they are reduced; 0 for other models.
  static constexpr std::size_t unit_gradients = of_policy::unit_gradients;
  /// The optimizer's arenas, its step memory and the table of parameters with options of their own; if the policy
  /// divides the update into shares, only the place's shares. 0 if the rule is optim::on_host.
  static constexpr std::size_t optimizer_state = on_host ? 0 : optimizer_bytes(0);
  /// Additional bytes in pinned memory for the places of the first process, which has most: with a rule in
  /// optim::on_host the optimizer's state, a copy of the parameters, and pieces of the gradients.
  static constexpr std::size_t host_state = [] {
    std::size_t sum = 0;
    for (std::size_t k = 0; on_host && k != of_policy::states_on_host; ++k)
      sum += optimizer_bytes(k) + optim::host_copy_bytes<typename roles::state>(of_policy::updated(k));
    return sum;
  }();
  /// Saved activations, outputs, their gradient, and scratch memory of layers. The gradient overwrites the outputs if
  /// the network's last layer does not keep them for backward, as linear.
  static constexpr std::size_t activations = layout::workspace(rows, false, of_policy::row_sums);
  /// Additional bytes if the loss is a program's own without `overwrites_output` (nn::loss).
  static constexpr std::size_t loss_gradient = layout::separate_gradient(rows);
  /// Sums of losses of the last step and over steps, and the results of clipping.
  static constexpr std::size_t sums = runtime::loss_sums_bytes + train::detail::scalar_bytes;
  /// Workspace of the policy's engine: none for `collective::direct`, a chunk of a bucket or unit for
  /// `collective::ring`, the gradients in 16 bits for `collective::wire`. Across processes `direct` and `ring` use host
  /// memory instead.
  static constexpr std::size_t reduction_buffer = of_policy::reduction_buffer;
  /// Additional bytes if the trainer clips: the integers of the norm. In mixed<half> every trainer needs them to detect
  /// gradients that are not finite, and `bytes` includes them.
  static constexpr std::size_t clipping = optim::clip_workspace_size * sizeof(std::int64_t);
  /// The total of the members above; includes `clipping` in mixed<half> only.
  static constexpr std::size_t bytes = base::parameters + base::working_copy + base::gathered + gradients +
                                       unit_gradients + optimizer_state + base::buffers + activations + sums +
                                       reduction_buffer + (scales_losses<P> ? clipping : 0);
};

}  // namespace devplace
