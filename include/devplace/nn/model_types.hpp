// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/sequential.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace {

/// The types of a model of `Net` on `Where` in precision `P`. Fails to compile if the network or the placement does not
/// fit a model.
template <class Net, placement Where, precision P> class model_types {
  using plan = runtime::network_plan<Net>;
  using mesh = detail::mesh_of<Where>;
  static_assert(mesh::one_backend, "devplace: the places of one model must be of one kind, all cpu or all cuda.");
  static_assert(mesh::in_own_memory, DEVPLACE_DETAIL_NOT_IN_OWN_MEMORY);
  static_assert(detail::computes<placement_backend_t<Where>>,
                "devplace: a model cannot lie in pinned memory, where nothing is computed; name cpu or a cuda place.");
  static_assert(nn::detail::is_layer<typename plan::wrong_layer>, DEVPLACE_DETAIL_NOT_A_LAYER);
  static_assert(sizeof(nn::detail::check_layers<typename plan::first_misfit>) != 0);

 public:
  /// The template arguments.
  ///@{
  using network_type = Net;
  using placement_type = Where;
  using precision_type = P;
  ///@}
  /// The element types of parameters, batches and outputs.
  ///@{
  using value_type = typename precision_traits<P>::parameter;
  using input_type = typename plan::template input_element<P>;
  using output_type = typename plan::template output_element<P>;
  ///@}
  /// Extents of one sample at the network's input and output.
  ///@{
  using input_extents = typename plan::input;
  using output_extents = typename plan::output;
  ///@}
  /// The placement of a loader's batches: `Where` itself if it is one place (`on<cpu>` for shared memory), otherwise
  /// split over the places. A batch may also be replicated like the model.
  using batch_placement_type = batch_placement_t<Where>;
};

}  // namespace devplace
