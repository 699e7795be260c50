// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/computed.hpp>
#include <devplace/nn/detail/number.hpp>
#include <devplace/nn/detail/rows.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// A layer whose output has its input's extents and may take over its memory, and whose backward reads the output.
struct in_place_layer {
  template <class In>
  using output = In;
  static constexpr keep keeps = keep::output;
  static constexpr bool in_place = true;
};

/// The layer of a function of each element: `Layer` gives it as an expression, and the gradient as one of the output.
template <class Layer>
struct elementwise_layer : in_place_layer {
  static void forward(const auto& c) { assign_rounded(flat(c.output), Layer::value(computed(flat(c.input)))); }
  static void backward(const auto& c) {
    assign_rounded(flat(c.input_gradient),
                   Layer::gradient(computed(flat(c.output_gradient)), computed(flat(c.output))));
  }
};

/// The same if the output does not determine the gradient: `Layer` gives it as an expression of the input, which is
/// kept.
template <class Layer>
struct elementwise_layer_of_input {
  template <class In>
  using output = In;
  static constexpr keep keeps = keep::input;

  static void forward(const auto& c) { assign_rounded(flat(c.output), Layer::value(computed(flat(c.input)))); }
  static void backward(const auto& c) {
    assign_rounded(flat(c.input_gradient), Layer::gradient(computed(flat(c.output_gradient)), computed(flat(c.input))));
  }
};

}  // namespace devplace::nn::detail
