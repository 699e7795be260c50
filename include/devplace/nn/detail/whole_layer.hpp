// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <type_traits>

#include <devplace/nn/detail/calls.hpp>
#include <devplace/nn/layer.hpp>

#define DEVPLACE_DETAIL_NOT_A_LAYER                                                                            \
  "devplace: a type in this network is not a layer: it must be an empty type with `template <class In> using " \
  "output`, static void forward(const auto& c) and backward(const auto& c), and an initialisation of each "    \
  "parameter; see nn/layer.hpp. linear<In, Out> needs both sizes."

namespace devplace::nn::detail {

/// Whether a layer has a member `backward`: the name is then ambiguous in a class that inherits it twice.
///@{
struct with_backward {
  static void backward();
};
template <class Layer> struct with_backward_twice : Layer, with_backward {};
template <class Layer>
inline constexpr bool has_backward = std::is_final_v<Layer> || !requires { &with_backward_twice<Layer>::backward; };
///@}

/// A layer whose declarations allow calls of its passes in precision P. A layer for prediction alone has no backward.
template <class Layer, class In, class X, class P>
concept has_passes = requires(const forward_call<Layer, In, P, backend::cpu, X>& forward) {
  { Layer::forward(forward) } -> std::same_as<void>;
} && (!has_backward<Layer> || requires(const backward_call<Layer, In, P, backend::cpu, X>& backward) {
                       { Layer::backward(backward) } -> std::same_as<void>;
                     });

template <class Table> constexpr bool all_initialised(const Table& table) {
  bool all = true;
  for (const parameter& p : table) all = all && p.init.kind != initialization::distribution::missing;
  return all;
}

/// Whether a type is a complete layer for samples of extents `In`.
template <class Layer, class In> constexpr bool is_complete_layer() {
  if constexpr (layer_for<Layer, In>) {
    constexpr bool passes = has_passes<Layer, In, own_element_t<Layer, float>, float> ||
                            has_passes<Layer, In, own_element_t<Layer, double>, double>;
    return passes && all_initialised(table_of<Layer, false>()) && all_initialised(table_of<Layer, true>());
  } else {
    return false;
  }
}

/// A stand-in for a type that is no layer, so that no further error follows; never called.
template <class Output> struct any_layer {
  template <class In> using output = Output;
  static void forward(const auto&) {}
  static void backward(const auto&) {}
};

template <class Layer, class In> struct stand_in {
  using type = any_layer<In>;
};
template <class Layer, class In>
  requires layer_for<Layer, In>
struct stand_in<Layer, In> {
  using type = any_layer<output_t<Layer, In>>;
};

/// The first type that is not void; void if all are.
template <class... T> struct first_fault {
  using type = void;
};
template <class First, class... Rest> struct first_fault<First, Rest...> {
  using type = First;
};
template <class... Rest> struct first_fault<void, Rest...> : first_fault<Rest...> {};

/// Whether a plan has only layers; error messages name `WrongLayer`, its first type that is not a layer.
template <class WrongLayer> inline constexpr bool is_layer = std::is_void_v<WrongLayer>;

}  // namespace devplace::nn::detail
