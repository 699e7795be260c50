// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/nn/sequential.hpp>

namespace devplace::nn::detail {

/// Rejects several layers. A function, so that clang prints no further error.
template <class... Layers> constexpr auto as_one_layer() {
  static_assert(sizeof...(Layers) == 1,
                "devplace: frozen, named and learning_rate_times take one layer or network; give several as one, "
                "frozen<sequential<A, B>>.");
  return std::type_identity<sequential<Layers...>>{};
}

/// Base of types that change a property of a layer or network, such as its name.
template <class... Layers> struct wrapper {
  using wrapped_layer = typename decltype(as_one_layer<Layers...>())::type;
};
template <class Layer> struct wrapper<Layer> {
  using wrapped_layer = Layer;
  static constexpr bool reshapes_only = detail::reshapes_only<Layer>();
};
template <class Layer>
concept wraps = requires { typename Layer::wrapped_layer; };

template <wraps Layer, class In> struct taken_by<Layer, In> : taken_by<typename Layer::wrapped_layer, In> {};
template <wraps Layer> struct network_input<Layer> : network_input<typename Layer::wrapped_layer> {};
template <wraps Layer, class Activation>
struct input_element<Layer, Activation> : input_element<typename Layer::wrapped_layer, Activation> {};
template <wraps Layer> struct last_layer<Layer> : last_layer<typename Layer::wrapped_layer> {};

}  // namespace devplace::nn::detail
