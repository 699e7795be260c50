// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/planning.hpp>
#include <devplace/optim/clip_norm.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/round_elements.hpp>
#include <devplace/tensor/view.hpp>
#include <devplace/train/detail/step_layout.hpp>
#include <devplace/train/detail/step_memory.hpp>

namespace devplace::train::detail {

/// Replaces team_region on devices. On the CPU, team_region keeps threads spinning between the operations of a step.
struct no_region {};
template <class Backend>
using awake_team = std::conditional_t<std::is_same_v<Backend, backend::cpu>, team_region, no_region>;

// No templates, to keep the code of each trainer small.
DEVPLACE_COMPILABLE([[noreturn]]) void throw_other_targets(std::size_t samples, std::size_t targets) {
  throw shape_error(
      {"trainer: ", samples, " samples and ", targets, " targets; a batch has one target for each sample."});
}
DEVPLACE_COMPILED(void throw_other_targets(std::size_t, std::size_t))
DEVPLACE_COMPILABLE([[noreturn]]) void throw_other_targets_of_part(std::size_t samples, std::size_t targets) {
  throw shape_error({"trainer: this place's part of the batch has ", samples, " samples and ", targets,
                     " targets; split samples and targets in the same way."});
}
DEVPLACE_COMPILED(void throw_other_targets_of_part(std::size_t, std::size_t))
[[noreturn]] inline void throw_moved_trainer() {
  throw error("this trainer was moved from; use the variable that it was moved to.");
}

/// Returns the number of samples `x` on a place, which is also the number of targets `y` there.
template <class Input> std::size_t rows_of_part(const auto& x, const auto& y) {
  const std::size_t rows = runtime::checked_rows<Input>(x);
  if (rows != y.extent(0)) throw_other_targets_of_part(rows, y.extent(0));
  return rows;
}
[[noreturn]] inline void throw_too_large(std::size_t rows) {
  throw argument_error({"trainer: a batch of ", rows,
                        " samples on one place takes more memory than any machine can address; use a smaller one."});
}

/// Throws if a batch is divided among other participants than the communicator's.
inline void require_participants(const participants& samples, const participants& targets,
                                 const participants& connected) {
  if (samples == connected && targets == connected) return;
  throw argument_error({"trainer: the batch is divided among ", samples.count,
                        " participants, and this process has the ranks from ", samples.first,
                        " on; the communicator has ", connected.count,
                        " participants, and this process has the ranks from ", connected.first,
                        " on; divide samples and targets among the communicator's participants."});
}

/// Allocates a place's workspace unless it is large enough for `rows` samples; `Loss` is the loss on the place. See
/// step_layout::workspace() about `RowSums`.
template <class Net, class P, class Backend, class Loss, std::size_t RowSums, class T>
void prepare(step_memory<T>& memory, int ordinal, std::size_t rows) {
  runtime::prepare_products<Backend>();
  if (memory.rows && rows <= *memory.rows) return;
  using layout = step_layout<Net, P>;
  constexpr bool separate = !nn::overwrites_output<Loss>;
  constexpr std::size_t limit = std::numeric_limits<std::ptrdiff_t>::max() / layout::workspace(1, separate, RowSums);
  if (rows > limit) throw_too_large(rows);
  memory.rows.reset();  // the allocation may fail
  devplace::detail::prepare_workspaces<Backend>(ordinal);
  memory.workspace = {};
  memory.workspace = devplace::detail::allocate<Backend>(ordinal, layout::workspace(rows, separate, RowSums),
                                                         memory_purpose::activations);
  memory.rows = rows;
}

/// Returns the arguments for clipping one place's gradients and undoing the loss scale. `statistics`, which may be
/// null, receives the norm.
template <class T, class S, class Scaling>
optim::clip_arguments<T> clip_arguments_of(const runtime::replica<S>& r, const step_memory<T>& memory,
                                           reduction loss_reduction, const Scaling& scaled,
                                           runtime::gradient_norm_statistics* statistics) {
  optim::clip_arguments<T> arguments;
  arguments.ordinal = r.ordinal;
  arguments.n = r.trained;
  arguments.gradients = r.gradient_data();
  arguments.weights = r.tail();
  arguments.divisor = loss_reduction == reduction::mean ? arguments.weights : nullptr;
  arguments.factor = memory.clip();
  arguments.norm = memory.clip() + 1;
  arguments.statistics = statistics;
  arguments.workspace = static_cast<std::int64_t*>(memory.clipping.data());
  if constexpr (requires { scaled.rule(); }) {
    arguments.scaler = memory.scale();
    arguments.scaling = scaled.rule();
    arguments.unscaled = scaled.divisor == 0 ? 1 : static_cast<double>(scaled.divisor);  // 0: no samples
  }
  return arguments;
}

/// Resets the two totals and the two pending sums behind them. `waiting`: no update has used the pending batches yet,
/// and the next update will add their sums to the totals. The totals then begin at minus these sums, and the pending
/// sums are kept.
struct reset_totals_functor {
  double* totals;
  bool waiting;
  DEVPLACE_HD void operator()(std::size_t) const {
    for (int k = 0; k < 2; ++k) {
      totals[k] = waiting ? -totals[2 + k] : 0;
      if (!waiting) totals[2 + k] = 0;
    }
  }
};

/// Adds an update's reduced sums of losses and weights to the mean loss. If the update has one batch, also stores them
/// in `sums` as the batch's loss; otherwise `sums` is null. Sets `differs` if the processes took different steps;
/// `differs` is null if only one process trains.
template <class Gradient, class Sum> struct reduced_loss_functor {
  const Gradient* tail;
  Sum* sums;
  double* totals;
  Sum* differs;
  DEVPLACE_HD void operator()(std::size_t) const {
    if (differs != nullptr && marks_differ(tail)) *differs = 1;
    for (int k = 0; k < 2; ++k) {
      if (sums != nullptr) sums[k] = static_cast<Sum>(tail[1 - k]);
      totals[k] += static_cast<double>(tail[1 - k]);
    }
  }
};

/// Returns the address of the loss's gradient in a workspace for `rows` samples.
template <class Net, class P, class T>
typename precision_traits<P>::activation* output_gradient_of(const step_memory<T>& memory, std::size_t rows) {
  using layout = step_layout<Net, P>;
  return memory.template in_workspace<typename precision_traits<P>::activation>(
      layout::overwrites_outputs ? layout::run::saved_bytes(rows, nn::mode::train) : layout::pass(rows));
}

/// After the pass `p`, computes the loss of one replica's part of the batch, the loss's gradient, and the sums of
/// losses and weights. `add`: accumulates the sums. Loss scaling also divides by `divisor`.
template <class Net, class P, class Backend, class PlacedLoss, class Targets, class T>
void compute_loss(const runtime::pass<P>& p, const typename runtime::engine<Net, P, Backend>::replica_type& r,
                  step_memory<T>& memory, const PlacedLoss& loss, const Targets& targets, bool add,
                  [[maybe_unused]] std::size_t divisor) {
  using run = runtime::engine<Net, P, Backend>;
  using layout = step_layout<Net, P>;
  using roles = precision_traits<P>;
  using accumulator = typename roles::accumulator;
  using devplace::detail::view_at;
  const std::size_t rows = p.batch;
  const std::size_t behind_gradient = layout::behind_gradient(rows);
  auto* const output_gradient = output_gradient_of<Net, P>(memory, rows);
  auto* const row_losses = memory.template in_workspace<accumulator>(behind_gradient + layout::output_copy(rows));
  const auto outputs = runtime::batch_extents<typename run::output_extents>(rows);
  const std::size_t output_size = rows * runtime::sample_size<typename run::output_extents>;
  const auto sums = view_at<Backend>(r.ordinal, r.loss_sums(), extents<2>{});
  const auto losses = view_at<Backend>(r.ordinal, row_losses,
                                       extents<dyn>{nn::losses_of<PlacedLoss>(rows, rows * layout::rows_of_output)});
  constexpr bool separate = layout::separate_gradient(1) != 0 && !nn::overwrites_output<PlacedLoss>;
  const accumulator* output;
  accumulator* gradient_of_loss;
  if constexpr (layout::copies_outputs) {
    output = gradient_of_loss = memory.template in_workspace<accumulator>(behind_gradient);
    runtime::round_elements<Backend>(r.ordinal, gradient_of_loss, run::output_of(p), output_size);
  } else {
    output = run::output_of(p);
    gradient_of_loss = output_gradient;
    if constexpr (separate) gradient_of_loss = memory.template in_workspace<accumulator>(layout::workspace(rows));
  }
  const auto gradient = view_at<Backend>(r.ordinal, gradient_of_loss, outputs);
  const auto result = view_at<Backend>(r.ordinal, output, outputs);
  const loss_functor<typename roles::gradient, accumulator> store{run::tail(r, r.loss_sums(), add),
                                                                  memory.mark,
                                                                  memory.totals(),
                                                                  memory.pending(),
                                                                  memory.counts,
                                                                  counts_passes<Backend> ? memory.passes() : nullptr};
  if constexpr (requires { requires std::is_same_v<typename PlacedLoss::calls_then, PlacedLoss>; }) {
    loss.into(sums, gradient, losses, result, targets, store);
  } else {
    constexpr bool computes = nn::computes_losses<PlacedLoss, decltype(sums), decltype(gradient), decltype(losses),
                                                  decltype(result), Targets>;
    static_assert(computes, DEVPLACE_DETAIL_LOSS_WITHOUT_INTO);
    if constexpr (computes) loss.into(sums, gradient, losses, result, targets);
    devplace::detail::for_each_index<Backend>(r.ordinal, 1, 1, store);
  }
  if constexpr (scales_losses<P>)
    runtime::round_scaled<Backend>(r.ordinal, output_gradient, gradient_of_loss, output_size,
                                   static_cast<accumulator>(divisor), &memory.scale()->scale);
  else if constexpr (layout::copies_outputs)
    runtime::round_elements<Backend>(r.ordinal, output_gradient, gradient_of_loss, output_size);
  else if constexpr (separate)
    devplace::detail::copy_within<Backend>(r.ordinal, output_gradient, gradient_of_loss,
                                           output_size * sizeof(accumulator));
  memory.counts = false;
}

/// Returns a pass's key, with the number of the pass on the place if the backend counts there. Sets this number unless
/// it follows from the pass before.
template <class Backend, class T> nn::random_key key_on_place(step_memory<T>& memory, int ordinal, nn::random_key key) {
  if constexpr (counts_passes<Backend>) {
    if (memory.next_pass != key.step)
      devplace::detail::for_each_index<Backend>(ordinal, 1, 1, store_functor<std::uint64_t>{memory.passes(), key.step});
    memory.next_pass.reset();  // until the pass is launched
    key.step_on_place = memory.passes();
  }
  return key;
}

/// Runs forward, loss and backward of one replica on its part of the batch. `add`: accumulates the gradients and sums.
/// Writes the sums of the loss before backward: they lie behind the gradients, and the arena's end must be complete
/// whenever backward calls `after`. `divisor`: see compute_loss.
template <class Net, class P, class Backend, class PlacedLoss, class Targets, class T>
void forward_and_backward(const typename runtime::engine<Net, P, Backend>::replica_type& r, step_memory<T>& memory,
                          const PlacedLoss& loss, std::size_t rows,
                          const typename runtime::engine<Net, P, Backend>::input_element* x, const Targets& targets,
                          const nn::random_key& key, bool add, const runtime::after_layer& after, std::size_t divisor) {
  using run = runtime::engine<Net, P, Backend>;
  auto p = run::make_pass(r, memory.workspace.data(), rows, nn::mode::train, key);
  if (rows != 0) run::forward(p, x);
  compute_loss<Net, P, Backend>(p, r, memory, loss, targets, add, divisor);
  if constexpr (counts_passes<Backend>) ++p.key.step_on_place;
  runtime::run_backward<Net, P, Backend>(p, r, x, output_gradient_of<Net, P>(memory, rows), add, nullptr, &after);
}

}  // namespace devplace::train::detail
