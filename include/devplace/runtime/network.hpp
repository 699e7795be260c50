// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/place/placement.hpp>
#include <devplace/tensor/precision.hpp>

#define DEVPLACE_DETAIL_NO_BACKWARD                                                                             \
  "devplace: a layer of this network has no backward, so the network predicts but cannot be trained: give the " \
  "layer static void backward(const auto& c), or train a network without this layer."

namespace devplace {

// Defined in nn/model.hpp, nn/predictor.hpp and runtime/gradients.hpp; code below nn needs only their names.
template <class Net, class Where = void, class P = float> class model;
template <class Net, placement Where, precision P> class predictor;
template <class Net, placement Where, precision P> class gradients;

namespace runtime {

/// The compile-time properties of a network; nn defines them for its networks (nn/sequential.hpp):
/// - `parameter_elements` and `buffer_elements`: elements of the arenas of trained parameters and of buffers;
///   `arena_elements`: `parameter_elements` plus `frozen_elements`, the elements of frozen parameters;
/// - `parameter_count`, `parameter_at<Index>` (extents and offset), and the trained parameters' `offsets`, `ranks` and
///   `learning_rates` (factors of the optimizer's learning rate);
/// - `for_each_parameter` and `for_each_buffer` with names; `visit_parameters` and `visit_buffers` with values in place
/// of types;
/// - `without_backward`: the first layer that has no backward, void if all have it;
/// - `input` and `output` (extents of one sample), the sizes of a pass, and the passes.
template <class Net> struct network_plan;

/// Whether a network can be trained; error messages name its plan's `without_backward`.
template <class LayerWithoutBackward>
concept is_trainable = std::is_void_v<LayerWithoutBackward>;

}  // namespace runtime
}  // namespace devplace
