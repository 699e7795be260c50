// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <type_traits>

#include <devplace/nn/concat_of.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/wrapper.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sum_of.hpp>

namespace devplace::nn {

/// A layer or network whose parameters training does not change, as with requires_grad=False in PyTorch:
/// `frozen<linear<784, 256>>`. Frozen parameters have no gradients and no optimizer state, are not sent between places,
/// and do not count in clipping. Backward computes only the gradient of the input, and only if a layer in front is
/// trained. Freezing changes neither buffers nor names of parameters: a batch_norm still uses the batch's statistics
/// and updates the running statistics.
template <class Layer, class... More> struct frozen : detail::wrapper<Layer, More...> {};

namespace detail {

/// A layer with parameters that are not trained.
template <class Layer> struct frozen_layer : Layer {
  static constexpr bool is_frozen = true;
  static constexpr keep keeps = [] {
    if constexpr (leaves_gradients_out<Layer>)
      return Layer::frozen_keeps;
    else
      return keeps_of<Layer>;
  }();
};

/// Freezes each layer of a network.
template <class Layer> struct frozen_form : std::type_identity<frozen_layer<Layer>> {};
template <class Layer>
  requires(table_of<Layer, false>().empty() && !wraps<Layer>)
struct frozen_form<Layer> : std::type_identity<Layer> {};
template <class Layer> using frozen_t = typename frozen_form<Layer>::type;
template <wraps Layer> struct frozen_form<Layer> : frozen_form<typename Layer::wrapped_layer> {};
template <wraps Layer>
  requires has_name<Layer>
struct frozen_form<Layer>
    : std::type_identity<named_layer<typename Layer::layer_name, frozen_t<typename Layer::wrapped_layer>>> {};
template <template <class...> class List, class... Layers>
  requires(std::same_as<List<>, sequential<>> || std::same_as<List<>, residual<>> ||
           std::same_as<List<>, projected_by<>> || std::same_as<List<>, sum_of<>> || std::same_as<List<>, concat_of<>>)
struct frozen_form<List<Layers...>> : std::type_identity<List<frozen_t<Layers>...>> {};

template <class... Layer, class In>
struct layer_plan<frozen<Layer...>, In> : layer_plan<frozen_t<typename frozen<Layer...>::wrapped_layer>, In> {};

}  // namespace detail
}  // namespace devplace::nn
