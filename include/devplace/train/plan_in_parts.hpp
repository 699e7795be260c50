// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/parallel/model_in_parts.hpp>
#include <devplace/place/in_parts.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/train/memory_plan.hpp>

namespace devplace {

/// The plan of a model in parts: each place has its rows of all samples.
///@{
template <class Net, std::size_t Parts, class Axis, class... Places, class P, std::size_t Samples, class Rule,
          class Policy, class Processes>
struct memory_plan<model<Net, spread_on<mesh<parts<Parts, Axis>>, Places...>, P>, batch<Samples>, Rule, Policy,
                   Processes> : memory_plan<typename model<Net, in_parts_on<Axis, Places...>, P>::strips_type,
                                            batch<Samples * Parts>, Rule, Policy, Processes> {};
template <class Net, std::size_t Parts, class Axis, class... Places, class P, std::size_t Samples, class Policy,
          class Processes>
struct memory_plan<model<Net, spread_on<mesh<parts<Parts, Axis>>, Places...>, P>, batch<Samples>, void, Policy,
                   Processes> : memory_plan<typename model<Net, in_parts_on<Axis, Places...>, P>::strips_type,
                                            batch<Samples * Parts>, void, Policy, Processes> {};
///@}

}  // namespace devplace
