// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace devplace::test {

/// Compares an activation with PyTorch's, on usual inputs and on large ones.
template <class Layer> void compare_activation_with_pytorch(const std::string& name) {
  using net = nn::sequential<nn::input<7>, Layer>;
  compare_with_pytorch_in_both<net, extents<5, 7>, extents<5, 7>>(name);
  compare_with_pytorch_in_both<net, extents<5, 7>, extents<5, 7>>(name + "_large");
}

/// Compares a layer with another option than the default with PyTorch's, in double alone.
template <class Layer> void compare_option_with_pytorch(const std::string& name) {
  using net = nn::sequential<nn::input<7>, Layer>;
  compare_with_pytorch<net, double, extents<5, 7>, extents<5, 7>>(name);
  compare_with_pytorch<net, double, extents<5, 7>, extents<5, 7>>(name + "_large");
}

/// Compares the layer's gradient with finite differences.
template <class Layer> void compare_activation_alone_with_differences() {
  const auto alone = nn::check_gradients<nn::sequential<nn::input<7>, Layer>>(seed{4});
  INFO(alone.where);
  CHECK(alone.checked == 21);
  CHECK(alone.worst < 1e-7);
}

/// Compares the layer's gradient with finite differences: alone, and between layers with parameters.
template <class Layer> void compare_activation_with_differences() {
  compare_activation_alone_with_differences<Layer>();
  const auto inside = nn::check_gradients<nn::sequential<nn::linear<4, 5>, Layer, nn::linear<5, 3>>>(seed{5});
  INFO(inside.where);
  CHECK(inside.worst < 1e-7);
}

}  // namespace devplace::test
