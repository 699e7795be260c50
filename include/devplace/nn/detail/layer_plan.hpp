// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <devplace/nn/detail/calls.hpp>
#include <devplace/nn/detail/whole_layer.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// Names of parameters, such as `0.weight`, are composed outside of templates to reduce instantiated code.
inline std::string child_name(const std::string& prefix, const char* name) {
  return prefix + name;
}
inline std::string child_prefix(const std::string& prefix, std::size_t index) {
  return prefix + std::to_string(index) + ".";
}

/// A parameter of a network: its table entry and its offset in the arena.
template <class Entry, std::size_t Offset>
struct entry_at_offset {
  using extents = typename Entry::extents;
  static constexpr std::size_t offset = Offset;
};

/// The parameters of a network in order.
template <class... Entries>
struct entry_list {};
template <class... A, class... B>
entry_list<A..., B...> operator+(entry_list<A...>, entry_list<B...>);

/// Sizes and passes of a network consisting of one layer, for samples of extents `In`; `sequential` and `residual`
/// specialise it. Arenas are counted in elements, because they have the same layout in each role's type, and the memory
/// of a pass in bytes. Everything but the passes is constexpr.
template <class Layer, class In>
struct layer_plan {
  using layer_type = Layer;
  using wrong_layer = void;  ///< the first that is no layer, for which another stands
  using first_misfit = void;
  using output = output_t<Layer, In>;
  static constexpr keep keeps = keeps_of<Layer>();
  static constexpr bool in_place = in_place_of<Layer>();
  static constexpr bool reshapes = reshapes_only<Layer>();
  static constexpr bool own_input_elements = takes_own_elements<Layer>;
  static constexpr bool keeps_elements = reshapes;
  static constexpr bool tells_layers = false;  ///< whether backward calls `after` for each of its layers
  static constexpr std::size_t layers = 1;
  static constexpr std::size_t parameters = scalar_count(table_of<Layer, false>());
  static constexpr std::size_t parameter_elements = offset_of(table_of<Layer, false>());
  static constexpr std::size_t buffer_elements = offset_of(table_of<Layer, true>());

  static constexpr std::size_t saved_bytes(std::size_t batch, mode, const element_sizes& e) {
    return padded_bytes(saved_per_sample<Layer, In>() * batch * e.activation);
  }
  static constexpr std::size_t scratch_bytes(std::size_t batch, mode, const element_sizes& e) {
    return padded_bytes(scratch_per_sample<Layer, In>() * batch * e.activation);
  }

  /// Passes take activations as addresses; `X` is the element type of the layer's input. `auto`: see
  /// chain::compile_layers.
  template <class Backend, class X, class P>
  static auto forward(const pass<P>& p, const void* x, void* y) {
    Layer::forward(forward_call<Layer, In, P, Backend, X>(p, x, y));
  }

  using indices = std::index_sequence<>;
  template <class Backend, class X, class P, bool Training>
  static auto compile_layers(indices) {}

  /// Forward fused with the layer `Next`, which works in place on the result.
  template <class Next, class Backend, class X, class P>
  static void forward_absorbing(const pass<P>& p, const void* x, void* y) {
    Layer::template forward_absorbing<Next>(forward_call<Layer, In, P, Backend, X>(p, x, y));
  }

  /// `dx` is null if not needed. `add`: add to existing parameter gradients.
  template <class Backend, class X, class P>
  static auto backward(const pass<P>& p, const void* x, const void* y, const void* dy, void* dx,
                       gradient_of<P>* gradients, bool add) {
    if constexpr (parameters == 0) {
      if (dx == nullptr) return;
    }
    Layer::backward(backward_call<Layer, In, P, Backend, X>(p, x, y, dy, dx, gradients, add));
  }

  /// Backward of forward_absorbing: y and dy are those of `Next`; `between`, which may alias dy, receives the gradient
  /// of the value between the two layers.
  template <class Next, class Backend, class X, class P>
  static void backward_absorbing(const pass<P>& p, const void* x, const void* y, const void* dy, void* between,
                                 void* dx, gradient_of<P>* gradients, bool add) {
    const backward_call<Layer, In, P, Backend, X> call(p, x, y, dy, dx, gradients, add);
    Layer::template backward_absorbing<Next>(call, call.output_like(y), call.output_like(between));
  }

  /// The type list of the parameters if the layer's arena starts at `Base`.
  template <std::size_t Base, std::size_t... Index>
  static auto list(std::index_sequence<Index...>) -> entry_list<
      entry_at_offset<table_entry<Layer, Index, false>, Base + table_entry<Layer, Index, false>::offset>...>;
  template <std::size_t Base>
  using entries = decltype(list<Base>(std::make_index_sequence<table_of<Layer, false>().size()>{}));

  /// Calls `f(name, entry, offset)` for every parameter or buffer, where `entry` is a `table_entry`; names are as in
  /// PyTorch.
  template <bool Buffers, class F>
  static void for_each(const std::string& prefix, std::size_t offset, F&& f) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (f(child_name(prefix, table_entry<Layer, Index, Buffers>::info.name), table_entry<Layer, Index, Buffers>{},
         offset + table_entry<Layer, Index, Buffers>::offset),
       ...);
    }
    (std::make_index_sequence<table_of<Layer, Buffers>().size()>{});
  }
};

template <class Layer, class In>
  requires(!is_whole_layer<Layer, In>())
struct layer_plan<Layer, In> : layer_plan<typename stand_in<Layer, In>::type, In> {
  using wrong_layer = Layer;
};

}  // namespace devplace::nn::detail
