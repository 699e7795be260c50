// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/runtime/batch.hpp>
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
template <class Loss, class Targets> constexpr bool misses_class_numbers() {
  if constexpr (tensor_like<Targets> && requires { requires Loss::takes_class_numbers; })
    return !std::is_integral_v<typename Targets::value_type>;
  else
    return false;
}

/// Whether a trainer's step takes these arguments; fails to compile where it does not.
template <class Model, class Loss, class Samples, class Targets> consteval bool accepts_step() {
  constexpr step_fault fault = fault_of_step<Model, Samples, Targets>();
  constexpr bool in_order = fault != step_fault::swapped, takes_targets = fault != step_fault::no_tensor;
  constexpr bool in_one_place = fault != step_fault::elsewhere;
  constexpr bool fits_loss = fault != step_fault::none || !misses_class_numbers<Loss, Targets>();
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

}  // namespace devplace::train::detail
