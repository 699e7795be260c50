// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/pass_checks.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/saved.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/runtime/gradients.hpp>
#include <devplace/runtime/network.hpp>

// The parts of model::backward and model::backward_to_input.
namespace devplace::nn::detail {
inline namespace DEVPLACE_CONFIGURATION {

/// Returns a lease of the model's gradients. Throws if a lease exists already.
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

}  // namespace DEVPLACE_CONFIGURATION
}  // namespace devplace::nn::detail
