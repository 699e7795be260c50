// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// Base of layers that may work in place and whose backward reads the output.
struct in_place_layer {
  template <class In> using output = In;
  static constexpr keep keeps = keep::output;
  static constexpr bool in_place = true;
};

/// The passes of layers that apply a function to each element: `Layer::value` is an expression of the input, and
/// `Layer::gradient` an expression of the output's gradient and of `y`, the output or the input. Not inlined, so that
/// layers of all sizes share the code.
template <class Layer> struct elementwise_passes {
  static constexpr bool works_on_rows = true;
  template <class To, class X> [[gnu::noinline]] static void apply(const To& to, const X& x) {
    assign_flat(to, Layer::value(computed(x)));
  }
  [[gnu::noinline]] static void differentiate(const auto& to, const auto& dy, const auto& y) {
    assign_flat(to, Layer::gradient(computed(dy), computed(y)));
  }
};

/// Base of layers that apply a function to each element and whose output determines the gradient.
template <class Layer> struct elementwise_layer : in_place_layer, elementwise_passes<Layer> {
  static void forward(const auto& c) { elementwise_layer::apply(flat(c.output), flat(c.input)); }
  static void backward(const auto& c) {
    elementwise_layer::differentiate(flat(c.input_gradient), flat(c.output_gradient), flat(c.output));
  }
};

/// elementwise_layer for functions whose output does not determine the gradient: the layer keeps the input.
template <class Layer> struct elementwise_layer_of_input : elementwise_passes<Layer> {
  template <class In> using output = In;
  static constexpr keep keeps = keep::input;

  static void forward(const auto& c) { elementwise_layer_of_input::apply(flat(c.output), flat(c.input)); }
  static void backward(const auto& c) {
    elementwise_layer_of_input::differentiate(flat(c.input_gradient), flat(c.output_gradient), flat(c.input));
  }
};

}  // namespace devplace::nn::detail
