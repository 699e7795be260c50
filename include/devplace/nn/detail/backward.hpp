// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/loss_result.hpp>
#include <devplace/nn/saved.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/runtime/gradients.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/tensor/precision.hpp>

// Reject wrong arguments of a model's passes at compile time. A pass does nothing if its check is false, so that no
// further error follows.
namespace devplace::nn::detail {

template <class Model, class Batch> consteval bool accepts_forward() {
  using where = typename Model::placement_type;
  if constexpr (runtime::accepts_batch<Model, Batch, true>()) {
    constexpr bool alone = runtime::network_plan<typename Model::network_type>::reductions_per_pass == 0 ||
                           single_place<where> || std::is_same_v<typename Batch::placement_type, where>;
    static_assert(alone,
                  "devplace: forward: a layer of the network, such as batch_norm<C, nn::over_all_places>, computes "
                  "over the samples of all places, which communicate only in the step of a trainer: use a trainer, or "
                  "a replicated batch, replicate<Where>(x).");
    return alone;
  } else {
    return false;
  }
}

template <class Model, class Saved> inline constexpr bool is_saved_by = false;
template <class Net, class Where, class P, class Batch, class Held>
inline constexpr bool is_saved_by<model<Net, Where, P>, saved<Net, Where, P, Batch, Held>> = true;

template <class T, class Loss> inline constexpr bool is_loss_gradient = false;
template <class T, class Extents, class Batch>
inline constexpr bool is_loss_gradient<T, loss_gradient<T, Extents, Batch>> = true;

template <class Model, class Saved>
using gradient_placement_of =
    gradient_placement_from_t<typename Model::placement_type, typename Saved::batch_placement_type>;

/// Whether `Model::backward` takes arguments of these types; if not, an assertion fails. `Saved` is deduced from a
/// forwarding reference; `Earlier` is the placement of gradients to add to, if any.
template <class Model, class Saved, class Loss, class Earlier = void> consteval bool accepts_backward() {
  constexpr bool types_fit = is_saved_by<Model, std::remove_cvref_t<Saved>> &&
                             is_loss_gradient<element_of_t<typename Model::precision_type>, Loss>;
  constexpr bool moved = !types_fit || std::is_same_v<Saved, std::remove_cvref_t<Saved>>;
  using plan = runtime::network_plan<typename Model::network_type>;
  static_assert(runtime::is_trainable<typename plan::without_backward>, DEVPLACE_DETAIL_NO_BACKWARD);
  static_assert(types_fit,
                "devplace: backward: its arguments are the data that this model's forward saved and the gradient of a "
                "loss, not the loss's whole result: auto [loss, gradient] = nn::cross_entropy{}(output, labels); "
                "model.backward(std::move(saved), gradient).");
  static_assert(moved,
                "devplace: backward: it consumes the data that forward saved; move them in: "
                "backward(std::move(saved), gradient).");
  if constexpr (types_fit && moved && runtime::is_trainable<typename plan::without_backward>) {
    constexpr bool one_batch =
        std::is_same_v<typename Saved::batch_placement_type, typename Loss::batch_placement_type>;
    constexpr bool addable = std::is_void_v<Earlier> || std::is_same_v<Earlier, gradient_placement_of<Model, Saved>>;
    static_assert(one_batch,
                  "devplace: backward: forward's batch and the loss's gradient lie on different placements; give both "
                  "functions the same batch.");
    static_assert(addable,
                  "devplace: backward: whole gradients and summands cannot be added: a sharded batch gives summands, "
                  "and synchronize adds them up; a replicated batch gives whole gradients.");
    return one_batch && addable;
  } else {
    return false;
  }
}

template <class Model, class Saved, class Loss> consteval bool accepts_backward_to_input() {
  constexpr bool of_activations = !runtime::network_plan<typename Model::network_type>::own_input_elements;
  constexpr bool in_one_process = !spans_processes<typename Model::placement_type>;
  static_assert(of_activations,
                "devplace: backward_to_input: the network's first layer takes elements of its own type "
                "(input_element), such as indices, which have no gradient; use backward.");
  static_assert(in_one_process,
                "devplace: backward_to_input: the model lies across processes, and the weights of the other processes' "
                "samples are not known here; use backward, or to<Local>(model), a model of one process.");
  if constexpr (of_activations && in_one_process)
    return accepts_backward<Model, Saved, Loss>();
  else
    return false;
}

inline namespace DEVPLACE_CONFIGURATION {

template <class Model, class Saved, class State>
auto leased_gradients(const std::shared_ptr<State>& state, reduction loss_reduction) {
  if (state->gradients_out)
    throw error(
        "backward: the gradients of the last backward are still in use; pass them to the optimizer, destroy the lease, "
        "or pass the lease to backward to add to it.");
  runtime::require_gradients<placement_backend_t<typename Model::placement_type>>(*state);
  return runtime::gradient_access::lease<
      gradients<typename Model::network_type, gradient_placement_of<Model, Saved>, typename Model::precision_type>>(
      state, loss_reduction);
}

/// Checks the arguments of backward, and then consumes `saved`. Writes place k's gradient of the batch to the address
/// `input_gradient(k)`, unless it is null.
template <class Net, class Where, class P, class Batch, class Held, class Extents, class State,
          class To = runtime::no_input_gradient>
void run_backward(const std::shared_ptr<State>& state, saved<Net, Where, P, Batch, Held>&& saved,
                  const loss_gradient<element_of_t<P>, Extents, Batch>& loss, bool add, const To& input_gradient = {}) {
  using devplace::detail::local_part;
  using backend_type = placement_backend_t<Where>;
  using output_extents = typename runtime::network_plan<Net>::output;
  saved.check(state.get());
  for (std::size_t k = 0; k < local_place_count<Where>; ++k) {
    const auto dy = local_part(loss.gradient, k);
    if (dy.size() != saved.pass(k).batch * output_extents{}.size())
      throw shape_error({"backward: the loss's gradient is ", devplace::detail::to_string(dy.extents()),
                         " and forward saw ", saved.pass(k).batch, " samples; both must be of the same batch."});
    if (loss.outputs[k] != nullptr && loss.outputs[k] != saved.output(k))
      throw argument_error(
          "backward: the loss was not computed from the tensor that this forward returned, so the derivative of the "
          "operations in between is missing. Pass forward's output itself to the loss: cross_entropy and "
          "bce_with_logits take logits, without softmax or sigmoid. If you computed the gradient of forward's output "
          "yourself, pass nn::output_gradient(std::move(dy)).");
  }
  if (gives_probabilities<Net> && loss.of_probabilities_is_wrong)
    throw argument_error(
        "backward: the network ends in softmax or sigmoid, and the loss takes logits or logarithms of probabilities; "
        "leave that layer out for cross_entropy and bce_with_logits, and end in nn::log_softmax for nll and kl_div.");
  const auto used = std::move(saved);
  ++state->gradient_writes;
  runtime::for_each_replica<backend_type>(*state, local_place_count<Where>, [&](std::size_t k) {
    const auto& r = state->replicas[k];
    runtime::run_backward<Net, P, backend_type>(used.pass(k), r, used.input(k), local_part(loss.gradient, k).data(),
                                                add, input_gradient(k));
    runtime::engine<Net, P, backend_type>::add_sums(r, local_part(loss.sums, k).data(), add);
  });
}

/// Divides the gradient of a batch's summed losses by the sum of the weights if the loss is a mean.
template <class DX, class T, class Extents, class Batch>
void divide_by_weights(DX& dx, const loss_gradient<T, Extents, Batch>& loss) {
  if (loss.reduction != reduction::mean) return;
  const double weights = total_sums<T, Batch>(loss.sums)[1];
  const auto factor = static_cast<sum_of_t<T>>(weights == 0 ? 0 : 1 / weights);
  for (std::size_t k = 0; k < local_place_count<Batch>; ++k) {
    const auto part = flat(devplace::detail::local_part(dx, k));
    assign_flat(part, computed(part) * factor);
  }
}

}  // namespace DEVPLACE_CONFIGURATION
}  // namespace devplace::nn::detail
