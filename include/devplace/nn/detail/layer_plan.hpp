// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/calls.hpp>
#include <devplace/nn/detail/visited_layer.hpp>
#include <devplace/nn/layer.hpp>

#define DEVPLACE_DETAIL_NOT_A_LAYER                                                                            \
  "devplace: a type in this network is not a layer: it must be an empty type with `template <class In> using " \
  "output`, static void forward(const auto& c) and backward(const auto& c), and an initialisation of each "    \
  "parameter; see nn/layer.hpp. linear<In, Out> needs both sizes."

namespace devplace::nn::detail {

/// Whether a layer has a member `backward`: the name is then ambiguous in a class that inherits it twice.
struct with_backward {
  static void backward();
};
template <class Layer> struct with_backward_twice : Layer, with_backward {};
template <class Layer>
inline constexpr bool has_backward = std::is_final_v<Layer> || !requires { &with_backward_twice<Layer>::backward; };

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

template <class Layer, class In>
concept is_complete_layer = layer_for<Layer, In> &&
                            (has_passes<Layer, In, own_element_t<Layer, float>, float> ||
                             has_passes<Layer, In, own_element_t<Layer, double>, double>) &&
                            all_initialised(table_of<Layer, false>()) && all_initialised(table_of<Layer, true>());

/// A stand-in for a type that is no layer, so that no further error follows; never called.
template <class Output> struct any_layer {
  template <class In> using output = Output;
  static void forward(const auto&) {}
  static void backward(const auto&) {}
};

template <class Layer, class In> constexpr auto stand_in() {
  if constexpr (layer_for<Layer, In>)
    return any_layer<output_t<Layer, In>>{};
  else
    return any_layer<In>{};
}

/// Whether a plan has only layers; error messages name `WrongLayer`, its first type that is not a layer.
template <class WrongLayer> inline constexpr bool is_layer = std::is_void_v<WrongLayer>;

/// A parameter of a network: its table entry, and its offset among the trained or the frozen parameters.
template <class Entry, std::size_t Offset, bool Frozen> struct entry_at_offset {
  using extents = typename Entry::extents;
  static constexpr std::size_t offset = Offset;
  static constexpr bool frozen = Frozen;
  static constexpr double learning_rate = 1;  ///< factor of the optimizer's learning rate
};

/// The parameters of a network in order.
template <class... Entries> struct entry_list {};
template <class... A, class... B> entry_list<A..., B...> operator+(entry_list<A...>, entry_list<B...>);

/// Numbers of multiplications for one sample: in forward; in a second forward whose output no layer reads
/// (pass::again); and in all second forwards that backward runs.
struct recomputed_cost {
  std::size_t forward, again, repeated;
};

/// The data that two neighbouring places of a model in parts (nn/strips.hpp) exchange for one sample: elements of
/// activations, and integers that are reduced over the places.
struct strip_traffic {
  std::size_t elements = 0, integers = 0;
  constexpr strip_traffic operator+(const strip_traffic& other) const {
    return {elements + other.elements, integers + other.integers};
  }
};

/// Sizes and passes of a network of one layer, for samples of extents `In`; `sequential`, `residual` and others
/// specialise the template. Sizes of arenas are in elements, since arenas of all element types have the same layout.
/// Sizes of a pass's memory are in bytes. Everything but the passes is constexpr.
template <class Layer, class In> struct layer_plan {
  using layer_type = Layer;
  using wrong_layer = void;  ///< the first type that is no layer; a stand-in replaces it
  using first_misfit = void;
  using without_backward = std::conditional_t<has_backward<Layer>, void, Layer>;  ///< void or the layer itself
  using output = output_t<Layer, In>;
  static constexpr keep keeps = keeps_of<Layer>;
  static constexpr bool in_place = requires { requires Layer::in_place; };
  static constexpr bool reshapes = reshapes_only<Layer>();
  static constexpr bool own_input_elements = takes_own_elements<Layer>;
  static constexpr bool keeps_elements = reshapes;
  static constexpr const char* own_name = by_position;  ///< replaces the position in the names of parameters
  static constexpr bool reports_layers = false;         ///< whether backward calls `after` for each layer
  static constexpr std::size_t layers = 1;
  static constexpr std::size_t links = 1;  ///< number of links; see runtime::link_range
  static constexpr runtime::layer_rows sliced_rows = rows_of<Layer, In>();
  static constexpr std::size_t reductions_per_pass = reductions_per_pass_of<Layer>;
  static constexpr std::size_t reduction_integers = reduction_integers_of<Layer>;  ///< of the largest reduction
  static constexpr std::size_t reduced_numbers = reduced_numbers_of<Layer>;        ///< in forward
  static constexpr std::size_t reduced_in_backward = reduced_numbers;
  static constexpr bool frozen = is_frozen<Layer>;
  static constexpr std::size_t parameters = frozen ? 0 : scalar_count(table_of<Layer, false>());
  static constexpr std::size_t parameter_elements = frozen ? 0 : offset_of(table_of<Layer, false>());
  /// Whether backward reads parameters if the input needs no gradient; it does not run without trained parameters then.
  static constexpr bool backward_reads =
      parameter_elements != 0 && !requires { requires Layer::backward_reads_for_input; };
  static constexpr std::size_t frozen_elements = frozen ? offset_of(table_of<Layer, false>()) : 0;
  static constexpr std::size_t buffer_elements = offset_of(table_of<Layer, true>());
  /// Whether forward leaves backward something besides its output.
  static constexpr bool leaves_data =
      saved_per_sample<Layer, In> + statistics_per_pass<Layer, In> + buffer_elements + reductions_per_pass != 0;

  /// The data that two neighbouring places of a model in parts exchange in a forward or backward pass; `dx`: whether
  /// the pass computes the input's gradient.
  static constexpr strip_traffic exchanged([[maybe_unused]] bool backward, [[maybe_unused]] bool dx) {
    if constexpr (requires { Layer::template exchanged<In>(backward, dx); })
      if (!backward || dx || parameters != 0) return Layer::template exchanged<In>(backward, dx);
    return {};
  }

  static constexpr std::size_t saved_bytes(std::size_t batch, mode, const element_sizes& e) {
    return padded_bytes(saved_per_sample<Layer, In> * batch * e.accumulator) +
           padded_bytes(statistics_per_pass<Layer, In> * e.accumulator);
  }
  /// Includes memory for parameter gradients that a frozen layer computes although they are not needed.
  static constexpr std::size_t scratch_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return own_scratch_bytes(batch, e) + (m == mode::train ? unused_gradients * e.accumulator : 0);
  }

  /// Runs forward on activations at these addresses; `X` is the element type of the layer's input. With `Rows`, a pass
  /// through some rows of the first parameter. With `Next`, also computes this layer, which works in place on the
  /// result. Returns `auto` for chain::compile_layers.
  template <class Backend, class X, class P, bool Rows = false, class Next = void>
  static auto forward(const pass<P>& p, const void* x, void* y) {
    if (skipped(p)) return;
    const pass<P>& own_pass = own<P>(p);
    const forward_call<Layer, In, P, Backend, X> call(own_pass, x, y);
    if constexpr (Rows)
      Layer::forward_rows(call);
    else if constexpr (!std::is_void_v<Next>)
      Layer::template forward_absorbing<Next>(call);
    else
      Layer::forward(call);
  }

  using indices = std::index_sequence<>;
  template <class Backend, class X, class P, bool Training> static auto compile_layers(indices) {}

  /// Runs backward. With `Next`, y and dy belong to that layer; `between` may alias dy.
  template <class Backend, class X, class P, bool Rows = false, class Next = void>
  static auto backward(const pass<P>& p, const backward_arguments<P>& a) {
    if constexpr (parameters == 0) {
      if (a.dx == nullptr) return;
    }
    if (skipped(p)) return;
    const pass<P>& own_pass = own<P>(p);
    const backward_call<Layer, In, P, Backend, X> call(own_pass, own<P>(p, a));
    if constexpr (Rows)
      Layer::backward_rows(call);
    else if constexpr (!std::is_void_v<Next>)
      Layer::template backward_absorbing<Next>(call, call.output_like(a.y), call.output_like(a.between));
    else
      Layer::backward(call);
  }

  /// The type list of the parameters if the layer's arenas start at `Base` and `Frozen`.
  template <std::size_t Base, std::size_t... Index>
  static auto list(std::index_sequence<Index...>) -> entry_list<
      entry_at_offset<table_entry<Layer, Index, false>, Base + table_entry<Layer, Index, false>::offset, frozen>...>;
  template <std::size_t Base, std::size_t Frozen>
  using entries = decltype(list<frozen ? Frozen : Base>(std::make_index_sequence<table_of<Layer, false>().size()>{}));

  /// Calls `f(name, entry, offset)` for every parameter or buffer, where `entry` is a `table_entry`; names are as in
  /// PyTorch.
  template <bool Buffers, class F> static void for_each(const std::string& prefix, const arena_begin& begin, F&& f) {
    const std::size_t offset = frozen && !Buffers ? begin.frozen : begin.own;
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (f(child_name(prefix, table_entry<Layer, Index, Buffers>::info.name), table_entry<Layer, Index, Buffers>{},
         offset + table_entry<Layer, Index, Buffers>::offset),
       ...);
    }(std::make_index_sequence<table_of<Layer, Buffers>().size()>{});
  }
  /// Returns the parameters or buffers as values, so that code which visits them compiles once for all layers.
  template <bool Buffers> static constexpr visited_layer visited(const char* name) {
    return {name,
            Buffers ? buffer_elements : parameter_elements,
            frozen_elements,
            table<Buffers>.data(),
            table<Buffers>.size(),
            frozen && !Buffers,
            reads_masters<Layer> && !Buffers};
  }

  /// Calls `f(prefix, plan)`, where `plan` is this type and `prefix` begins the names of the layer's parameters.
  template <class F> static void visit_layers(const std::string& prefix, F&& f) { f(prefix, layer_plan{}); }
  /// Whether the first axis of the outputs is the channels; `of_inputs` states the same about the inputs.
  static constexpr bool channels_first(bool of_inputs) {
    if constexpr (requires { Layer::gives_channels_first; })
      return Layer::gives_channels_first;
    else
      return of_inputs && std::is_same_v<output, In>;
  }
  static constexpr std::size_t multiply_adds = multiply_adds_of<Layer, In>;
  static constexpr recomputed_cost cost{multiply_adds, multiply_adds, 0};
  /// Number of elements of the layer's parameters, frozen or not, and of its buffers.
  static constexpr std::size_t own_parameters = scalar_count(table_of<Layer, false>());
  static constexpr std::size_t own_buffers = scalar_count(table_of<Layer, true>());

 private:
  template <bool Buffers> static constexpr auto table = table_of<Layer, Buffers>();
  static constexpr std::size_t unused_gradients = leaves_gradients_out<Layer> ? 0 : padded(frozen_elements);
  static constexpr std::size_t own_scratch_bytes(std::size_t batch, const element_sizes& e) {
    return padded_bytes(scratch_per_sample<Layer, In> * batch * e.accumulator) + float_parameter_bytes<Layer>(e) +
           sums_bytes<Layer, In>(batch, e);
  }

  /// Whether the pass only makes plans and the layer does not declare plans_ahead.
  template <class P> [[gnu::always_inline]] static bool skipped(const pass<P>& p) {
    return p.planning && !requires { requires Layer::plans_ahead; };
  }
  /// Return the pass with the addresses of the layer's parameters, and the arguments with their gradients' addresses.
  ///@{
  template <class P> using own_pass = std::conditional_t<frozen, pass<P>, const pass<P>&>;
  template <class P> [[gnu::always_inline]] static own_pass<P> own(own_pass<P> p) {
    if constexpr (frozen) {
      p.parameters += p.frozen;
      p.master_parameters += p.frozen;
    }
    return p;
  }
  template <class P>
  using own_arguments = std::conditional_t<frozen, backward_arguments<P>, const backward_arguments<P>&>;
  template <class P> [[gnu::always_inline]] static own_arguments<P> own(const pass<P>& p, own_arguments<P> a) {
    static_assert(sizeof(gradient_of<P>) <= sizeof(accumulator_of<P>));
    if constexpr (frozen) {
      constexpr element_sizes e{0, sizeof(element_of_t<P>), sizeof(accumulator_of<P>)};
      a.gradients = reinterpret_cast<gradient_of<P>*>(p.scratch + own_scratch_bytes(p.batch, e));
      a.add = false;
    }
    return a;
  }
  ///@}
};

template <class Layer, class In>
  requires(!has_name<Layer> && !is_complete_layer<Layer, In>)
struct layer_plan<Layer, In> : layer_plan<decltype(stand_in<Layer, In>()), In> {
  using wrong_layer = Layer;
};

}  // namespace devplace::nn::detail
