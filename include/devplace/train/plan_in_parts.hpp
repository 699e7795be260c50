// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/nn/strips.hpp>
#include <devplace/parallel/model_in_parts.hpp>
#include <devplace/parallel/step_traffic.hpp>
#include <devplace/place/in_parts.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/train/memory_plan.hpp>

namespace devplace {

/// The plan of a model in parts: each place has its rows of all samples.
///@{
template <class Net, splits_rows InRows, class P, std::size_t Samples, class Rule, class Policy, class Processes>
struct memory_plan<model<Net, InRows, P>, batch<Samples>, Rule, Policy, Processes>
    : memory_plan<typename model<Net, InRows, P>::strips_type, batch<Samples * local_place_count<InRows>>, Rule, Policy,
                  Processes> {};
template <class Net, splits_rows InRows, class P, std::size_t Samples, class Policy, class Processes>
struct memory_plan<model<Net, InRows, P>, batch<Samples>, void, Policy, Processes>
    : memory_plan<typename model<Net, InRows, P>::strips_type, batch<Samples * local_place_count<InRows>>, void, Policy,
                  Processes> {};
///@}

/// The traffic of a step of a model in parts: gradients, parameters and statistics as between replicas, and rows.
template <class Net, splits_rows InRows, class P, class Policy>
struct step_traffic<model<Net, InRows, P>, Policy>
    // An alias, because Doxygen reports members of other instances of documented bases as not documented.
    : std::type_identity_t<step_traffic<typename model<Net, InRows, P>::strips_type, Policy>> {
 private:
  static constexpr std::size_t places = local_place_count<InRows>;
  using plan = runtime::network_plan<nn::strips<Net, places>>;
  static constexpr auto exchanged = plan::exchanged(false, false) + plan::exchanged(true, false);

 public:
  /// Bytes for each sample of the batch, besides `bytes`: rows of activations and of their gradients that neighbouring
  /// places exchange, and sums of layers that normalise each sample, such as group_norm.
  ///@{
  static constexpr std::size_t rows_of_sample =
      (places - 1) * exchanged.elements * sizeof(typename precision_traits<P>::activation);
  static constexpr std::size_t statistics_of_sample = 2 * (places - 1) * exchanged.integers * sizeof(std::int64_t);
  ///@}
  /// All bytes of a step with a batch of `samples` samples.
  constexpr std::size_t bytes_for(std::size_t samples) const {
    return this->bytes + samples * (rows_of_sample + statistics_of_sample);
  }
};

}  // namespace devplace
