// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/detail/computed.hpp>
#include <devplace/nn/detail/number.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// Base of layers that may work in place and whose backward reads the output.
struct in_place_layer {
  template <class In> using output = In;
  static constexpr keep keeps = keep::output;
  static constexpr bool in_place = true;
};

/// Base of layers that apply a function to each element: `Layer::value` is an expression of the input, and
/// `Layer::gradient` an expression of the output and the output's gradient.
template <class Layer> struct elementwise_layer : in_place_layer {
  static void forward(const auto& c) { assign_rounded(flat(c.output), Layer::value(computed(flat(c.input)))); }
  static void backward(const auto& c) {
    assign_rounded(flat(c.input_gradient),
                   Layer::gradient(computed(flat(c.output_gradient)), computed(flat(c.output))));
  }
};

/// elementwise_layer for functions whose output does not determine the gradient: `Layer::gradient` is an expression of
/// the input, which the layer keeps, and of the output's gradient.
template <class Layer> struct elementwise_layer_of_input {
  template <class In> using output = In;
  static constexpr keep keeps = keep::input;

  static void forward(const auto& c) { assign_rounded(flat(c.output), Layer::value(computed(flat(c.input)))); }
  static void backward(const auto& c) {
    assign_rounded(flat(c.input_gradient), Layer::gradient(computed(flat(c.output_gradient)), computed(flat(c.input))));
  }
};

}  // namespace devplace::nn::detail
