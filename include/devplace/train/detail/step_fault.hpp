// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/runtime/batch.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::train::detail {

/// The first error in the types of a step's arguments.
enum class step_fault : unsigned char { none, swapped, samples, no_tensor, elsewhere };

template <class Model, class Samples, class Targets>
constexpr step_fault fault_of_step() {
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
constexpr bool misses_class_numbers() {
  if constexpr (tensor_like<Targets> && requires { requires Loss::takes_class_numbers; })
    return !std::is_integral_v<typename Targets::value_type>;
  else
    return false;
}

}  // namespace devplace::train::detail
