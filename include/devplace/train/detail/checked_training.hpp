// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/nn/sequential.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::train::detail {

/// The first error in the types of a step's arguments.
enum class step_fault : unsigned char { none, swapped, samples, no_tensor, elsewhere };

template <class Model, class Samples, class Targets> constexpr step_fault fault_of_step() {
  using runtime::batch_fault;
  if (runtime::fault_of_batch<Model, Samples, false>() != batch_fault::none)
    return runtime::fault_of_batch<Model, Targets, false>() == batch_fault::none ? step_fault::swapped
                                                                                 : step_fault::samples;
  if constexpr (!tensor_like<Targets>)
    return step_fault::no_tensor;
  else if constexpr (tensor_like<Samples>)
    return std::is_same_v<typename Targets::placement_type, typename Samples::placement_type> ? step_fault::none
                                                                                              : step_fault::elsewhere;
  return step_fault::none;
}

/// Whether a loss that takes class numbers (`Loss::takes_class_numbers`) gets floating-point targets.
template <class Loss, class Targets>
concept misses_class_numbers = tensor_like<Targets> && requires { requires Loss::takes_class_numbers; } &&
                               !std::is_integral_v<typename Targets::value_type>;

/// Whether a trainer's step takes these arguments; fails to compile where it does not.
template <class Model, class Loss, class Samples, class Targets> consteval bool accepts_step() {
  constexpr step_fault fault = fault_of_step<Model, Samples, Targets>();
  constexpr bool in_order = fault != step_fault::swapped, takes_targets = fault != step_fault::no_tensor;
  constexpr bool in_one_place = fault != step_fault::elsewhere;
  constexpr bool fits_loss = fault != step_fault::none || !misses_class_numbers<Loss, Targets>;
  static_assert(in_order, "devplace: trainer: the samples come first and the targets second: step(samples, targets).");
  static_assert(takes_targets,
                "devplace: trainer: the targets are a tensor or a view of one; numbers elsewhere in the host's "
                "memory, as in a std::vector, are viewed by wrap(values, extents<dyn>(n)).");
  static_assert(in_one_place,
                "devplace: the step's samples and targets lie on different placements; a loader<Where> puts both "
                "on the placement that the model takes.");
  static_assert(fits_loss,
                "devplace: trainer: cross_entropy and nll take class numbers, one integer for each sample; for targets "
                "with a floating-point type use mse; for a one-hot code give argmax(targets, axis<1>{}).");
  if constexpr (fault == step_fault::samples) static_cast<void>(runtime::accepts_batch<Model, Samples, false>());
  return fault == step_fault::none && fits_loss;
}

/// Checks that a trainer's arguments fit each other; fails to compile where they do not. Returns true.
template <class Net, class Where, class P, class Loss, class Rule, class Policy> consteval bool checked_training() {
  constexpr bool probabilities = nn::gives_probabilities<Net>, any_numbers = nn::gives_any_numbers<Net>;
  constexpr bool takes_outputs = !(probabilities && requires { requires Loss::takes_logits; });
  constexpr bool takes_logarithms =
      !((probabilities || any_numbers) && requires { requires Loss::takes_log_probabilities; });
  constexpr bool takes_classes_last =
      requires { requires Loss::takes_class_numbers && Loss::template bound<float>::of_last_axis; };
  constexpr bool classes_last = !takes_classes_last || !runtime::network_plan<Net>::channels_first(false);
  constexpr bool in_own_memory = !std::is_same_v<Where, shared_memory>;
  constexpr bool is_policy = collective_policy<Policy, placement_backend_t<Where>, typename precision_traits<P>::wire>;
  constexpr bool fits_placement = !is_policy || collective::gathers_units<Policy> == stores_shares<Where>;
  constexpr bool can_skip = !scales_losses<P> || requires { requires Rule::skips_steps; };
  static_assert(takes_outputs,
                "devplace: trainer: cross_entropy and bce_with_logits take logits, and the network ends in softmax or "
                "sigmoid; leave that layer out, and call softmax(model.predict(x)) for probabilities.");
  static_assert(takes_logarithms,
                "devplace: trainer: nll and kl_div take logarithms of probabilities, and the network ends in softmax, "
                "sigmoid or linear; end it in nn::log_softmax.");
  static_assert(classes_last,
                "devplace: trainer: cross_entropy and nll take the classes along the last axis, and the network ends "
                "in a layer of images or series, whose channels are the first axis of a sample; put nn::permute<1, 2, "
                "0> behind it, or nn::permute<1, 0> for series.");
  static_assert(in_own_memory,
                "devplace: trainer: a model in shared memory has its own trainer (train/hogwild.hpp); write #include "
                "<devplace/shared_memory.hpp>.");
  static_assert(
      is_policy,
      "devplace: trainer: the argument after the rule is neither a collective policy nor accumulate<k>; use "
      "collective::all_reduce{} or collective::scatter_gather{}, or see parallel/policy.hpp for the requirements.");
  static_assert(fits_placement,
                "devplace: trainer: collective::gather_units is the policy of models in shares, and the only one that "
                "they have; give the model a placement such as fully_sharded<0, 1>, or choose the other policy.");
  static_assert(can_skip,
                "devplace: trainer: in mixed<half> steps are skipped if gradients are not finite, and the rule does "
                "not declare that it can skip; see skips_steps in optim/optimizer_concept.hpp.");
  return true;
}

}  // namespace devplace::train::detail
