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

/// Base of layers that apply a function to each element: `Layer::value` is an expression of the input, and
/// `Layer::gradient` an expression of the output's gradient and of what backward reads, `Kept`. The functions
/// that compute both are not inlined, so that layers of all sizes call the same copy of each.
template <class Layer, keep Kept = keep::output> struct elementwise_layer {
  template <class In> using output = In;
  static constexpr keep keeps = Kept;
  static constexpr bool in_place = Kept == keep::output, works_on_rows = true;

  template <class To, class X> [[gnu::noinline]] static void apply(const To& to, const X& x) {
    assign_flat(to, Layer::value(computed(x)));
  }
  [[gnu::noinline]] static void differentiate(const auto& to, const auto& dy, const auto& kept) {
    assign_flat(to, Layer::gradient(computed(dy), computed(kept)));
  }
  static void forward(const auto& c) { apply(flat(c.output), flat(c.input)); }
  static void backward(const auto& c) {
    if constexpr (Kept == keep::output)
      differentiate(flat(c.input_gradient), flat(c.output_gradient), flat(c.output));
    else
      differentiate(flat(c.input_gradient), flat(c.output_gradient), flat(c.input));
  }
};

}  // namespace devplace::nn::detail
