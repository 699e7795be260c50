// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/layer.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::nn::detail {

/// A batch as a matrix: all axes but the last are merged into rows.
template <class View>
auto rows(const View& x) {
  constexpr std::size_t columns = View::extents_type::static_extent(View::rank - 1);
  return x.reshape(extents<dyn, columns>{x.size() / columns});
}

/// A batch as one axis: elementwise expressions are compiled once for all sizes.
template <class View>
auto flat(const View& x) {
  return x.reshape(extents<dyn>{x.size()});
}

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
  static void forward(const auto& c) { flat(c.output) = Layer::value(flat(c.input)); }
  static void backward(const auto& c) {
    flat(c.input_gradient) = Layer::gradient(flat(c.output_gradient), flat(c.output));
  }
};

/// The same if the output does not determine the gradient: `Layer` gives it as an expression of the input, which is
/// kept.
template <class Layer>
struct elementwise_layer_of_input {
  template <class In>
  using output = In;
  static constexpr keep keeps = keep::input;

  static void forward(const auto& c) { flat(c.output) = Layer::value(flat(c.input)); }
  static void backward(const auto& c) {
    flat(c.input_gradient) = Layer::gradient(flat(c.output_gradient), flat(c.input));
  }
};

/// Whether a template argument is a std::ratio.
template <class R>
inline constexpr bool is_ratio = requires {
  R::num;
  R::den;
};

/// The number that a std::ratio is; 1 for another type, so that no other error follows its refusal.
template <class R>
inline constexpr double number_of = 1;
template <class R>
  requires is_ratio<R>
inline constexpr double number_of<R> = static_cast<double>(R::num) / static_cast<double>(R::den);

}  // namespace devplace::nn::detail
