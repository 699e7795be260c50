// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/parameter.hpp>
#include <devplace/runtime/pass.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::nn {

/// The activations that a layer's backward pass reads; other activations may be overwritten after forward.
enum class keep : unsigned char { nothing = 0, input = 1, output = 2, input_and_output = 3 };

using runtime::mode;
using runtime::random_key;

/// A layer: an empty type that defines a computation on one batch, independent of places. It needs
///
/// - `template <class In> using output`: the extents of one output sample, for input samples of extents `In`;
/// - `static void forward(const auto& c)`: writes `c.output` from `c.input` (both [batch, sample extents...]);
/// - `static void backward(const auto& c)`: writes `c.input_gradient` (unless `c.needs_input_gradient` is false) from
///   `c.output_gradient`, and the parameters' gradients by `c.template add_gradient<I>(expression)`. A layer for
///   prediction alone needs no backward; trainers reject it;
///
/// and may have
///
/// - `static constexpr nn::keep keeps`: whether backward reads `c.input`, `c.output` or both (default: both);
/// - `static constexpr nn::keep frozen_keeps`: `keeps` in nn::frozen; declares that backward computes parameter
///   gradients only `if constexpr (c.needs_parameter_gradients)`. Without this constant, gradients of frozen parameters
///   go to scratch memory;
/// - `static constexpr bool in_place`: forward may overwrite its input with its output, and backward may overwrite the
///   output's gradient with the input's gradient. Takes effect if input and output have the same number of elements;
/// - `static constexpr std::array parameters{nn::parameter{...}}`, read by `c.template parameter<I>()`;
/// - `static constexpr std::array buffers{nn::parameter{...}}`: state that is not trained, accessed by `c.template
///   buffer<I>()`;
/// - `template <class In> static constexpr std::size_t saved`: elements per sample in `c.saved()`, memory that lasts
///   from forward to backward; `template <class In> static constexpr std::size_t scratch`: elements per sample in
///   `c.scratch()`, memory that lasts for one pass;
/// - `template <class In> static constexpr std::size_t statistics`: numbers in `c.statistics()` for the whole batch,
///   memory that lasts from forward to backward; they are double in double precision and otherwise float;
/// - `static constexpr bool plans_ahead`: true if forward and backward only call operations, and libraries make plans
///   for some of these operations. A trainer's `prepare` then calls both passes to make the plans without computing;
///   otherwise the first step makes the plans;
/// - `static constexpr bool reads_masters`: true if forward or backward reads `c.template master_parameter<I>()`, so
///   that models in shares also gather the layer's parameters in the optimizer's type;
/// - `static constexpr bool backward_reads_for_input`: true if backward reads parameters only to compute the input's
///   gradient, so that models in shares need not gather a first layer's parameters for backward;
/// - `static constexpr std::size_t reductions_per_pass` and `reduction_integers`, for layers that compute over the
///   samples of all places: how often a pass stops for a reduction over the places, and the largest number of integers
///   in one reduction. Each place contributes its integers by `c.reduce(numbers, count, op)`. forward and backward are
///   each called reductions_per_pass + 1 times, with `c.phase()` 0, 1 and so on, even on places without samples;
///   `c.samples()` is the number of samples on all places;
/// - `static constexpr std::size_t sliced_rows`, `forward_rows(c)` and `backward_rows(c)`: the number of rows of the
///   first parameter, and passes through the rows `c.rows()` of them, of which alone `c.template parameter<0>()` has
///   elements. Models in shares gather a large parameter slice by slice: forward runs from the last to the first slice,
///   and backward in the reverse order. `c.template parameter_behind<I>()` is a parameter behind the rows. With the
///   last rows, backward also gives the gradients of the parameters behind them. `template <class In> static constexpr
///   std::size_t row_sums`: elements per sample in `c.row_sums()`, which last from slice to slice of backward if
///   activations have 16 bits, and are null otherwise;
/// - `static constexpr bool works_on_rows`: true if each row of an image [C, H, W] depends on the same row of the input
///   alone, so that models in parts (in_parts.hpp) run the layer on some of the rows;
/// - `template <class In> static constexpr std::size_t multiply_adds`: number of multiplications in products for one
///   sample; summary (train/summary.hpp) counts two operations for each;
/// - `static constexpr bool gives_channels_first`: whether the first axis of an output sample is the channels, as in
///   images. By default, an output with the input's extents inherits the input's property. Trainers reject networks
///   whose outputs have channels first if the loss takes class numbers along the last axis;
/// - `using input_extents = extents<...>`: the extents of one sample, if the layer fixes them;
/// - `using input_element = std::int32_t`: for first layers, the element type of the input, such as indices or bytes,
///   if it is not the activations' type. The input then has no gradient.
///
/// The model's precision determines the element type of each view by its role (tensor/precision.hpp). `c.mode`
/// distinguishes training from prediction, `c.key` keys random numbers. No base class, no registration. docs/layers.md
/// builds a layer step by step.
template <class Layer, class In>
concept layer_for = std::is_empty_v<Layer> && requires { requires extents_like<typename Layer::template output<In>>; };

namespace detail {

using devplace::detail::first_not_void;
using devplace::detail::prepend_t;

using runtime::backward_arguments;
using runtime::element_sizes;
using runtime::link_range;
using runtime::padded;
using runtime::padded_bytes;
using runtime::pass;
using runtime::sample_size;

template <class Layer> inline constexpr keep keeps_of = keep::input_and_output;
template <class Layer>
  requires requires { Layer::keeps; }
inline constexpr keep keeps_of<Layer> = Layer::keeps;

constexpr bool includes(keep kept, keep part) {
  return (static_cast<unsigned>(kept) & static_cast<unsigned>(part)) != 0;
}

/// A layer in nn::named.
template <class Layer>
concept has_name = requires { typename Layer::layer_name; };

/// Whether a layer's parameters are not trained; nn::frozen makes such layers.
template <class Layer> inline constexpr bool is_frozen = requires { requires Layer::is_frozen; };

/// Whether backward leaves out parameter gradients that are not needed.
template <class Layer> inline constexpr bool leaves_gradients_out = requires { Layer::frozen_keeps; };

/// Whether a layer reads its parameters in the optimizer's type.
template <class Layer> inline constexpr bool reads_masters = requires { requires Layer::reads_masters; };

/// Whether a layer only reshapes, so that its output can share its input's memory.
template <class Layer> constexpr bool reshapes_only() {
  return requires { requires Layer::reshapes_only; };
}

template <class Layer>
concept takes_own_elements = requires { typename Layer::input_element; };

/// The layer's input_element, or `Other` if it has none.
template <class Layer, class Other> struct own_element : std::type_identity<Other> {};
template <takes_own_elements Layer, class Other>
struct own_element<Layer, Other> : std::type_identity<typename Layer::input_element> {};
template <class Layer, class Other> using own_element_t = typename own_element<Layer, Other>::type;

/// A layer's parameters or buffers.
template <class Layer, bool Buffers> constexpr auto table_of() {
  if constexpr (Buffers && requires { Layer::buffers; })
    return Layer::buffers;
  else if constexpr (!Buffers && requires { Layer::parameters; })
    return Layer::parameters;
  else
    return std::array<parameter, 0>{};
}

template <class Layer, class In> inline constexpr std::size_t saved_per_sample = 0;
template <class Layer, class In>
  requires requires { Layer::template saved<In>; }
inline constexpr std::size_t saved_per_sample<Layer, In> = Layer::template saved<In>;

template <class Layer, class In> inline constexpr std::size_t scratch_per_sample = 0;
template <class Layer, class In>
  requires requires { Layer::template scratch<In>; }
inline constexpr std::size_t scratch_per_sample<Layer, In> = Layer::template scratch<In>;

template <class Layer, class In> inline constexpr std::size_t statistics_per_pass = 0;
template <class Layer, class In>
  requires requires { Layer::template statistics<In>; }
inline constexpr std::size_t statistics_per_pass<Layer, In> = Layer::template statistics<In>;

template <class Layer, class In> inline constexpr std::size_t multiply_adds_of = 0;
template <class Layer, class In>
  requires requires { Layer::template multiply_adds<In>; }
inline constexpr std::size_t multiply_adds_of<Layer, In> = Layer::template multiply_adds<In>;

/// The number of reductions over the places in a layer's pass, and the largest number of integers in one reduction.
template <class Layer> inline constexpr std::size_t reductions_per_pass_of = 0;
template <class Layer>
  requires requires { Layer::reductions_per_pass; }
inline constexpr std::size_t reductions_per_pass_of<Layer> = Layer::reductions_per_pass;
template <class Layer> inline constexpr std::size_t reduction_integers_of = 0;
template <class Layer>
  requires requires { Layer::reduction_integers; }
inline constexpr std::size_t reduction_integers_of<Layer> = Layer::reduction_integers;
/// The number of integers in all reductions of a pass; 0 if it depends on the number of samples.
template <class Layer>
inline constexpr std::size_t reduced_numbers_of = reductions_per_pass_of<Layer> * reduction_integers_of<Layer>;
template <class Layer>
  requires requires { requires Layer::reduces_for_each_sample; }
inline constexpr std::size_t reduced_numbers_of<Layer> = 0;

/// The rows of a layer's first parameter if passes can run for some of them.
template <class Layer, class In> constexpr runtime::layer_rows rows_of() {
  if constexpr (requires { Layer::sliced_rows; }) {
    std::size_t sums = 0;
    if constexpr (requires { Layer::template row_sums<In>; }) sums = Layer::template row_sums<In>;
    return {Layer::sliced_rows, Layer::parameters[0].shape.size() / Layer::sliced_rows, sums};
  } else {
    return {};
  }
}

/// Offset of entry `index` of a table in an arena, which pads each entry; by default the padded size of all entries.
template <std::size_t N> constexpr std::size_t offset_of(const std::array<parameter, N>& table, std::size_t index = N) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < index; ++i) offset += padded(table[i].shape.size());
  return offset;
}

/// If activations have 16 bits, layers with a member `sums` get two float arrays besides scratch: one has as many
/// elements as the parameters, the other has `sums` elements for each sample. Return the bytes of these.
template <class Layer> constexpr std::size_t float_parameter_bytes(const element_sizes& e) {
  if (!requires { requires Layer::has_sums; } || e.activation == e.accumulator) return 0;
  return padded_bytes(offset_of(table_of<Layer, false>()) * e.accumulator);
}
template <class Layer, class In> constexpr std::size_t sums_bytes(std::size_t batch, const element_sizes& e) {
  if constexpr (requires { requires Layer::has_sums; })
    return e.activation == e.accumulator ? 0 : padded_bytes(Layer::template sums<In> * batch * e.accumulator);
  else
    return 0;
}

template <std::size_t N> constexpr std::size_t scalar_count(const std::array<parameter, N>& table) {
  std::size_t total = 0;
  for (const parameter& p : table) total += p.shape.size();
  return total;
}

/// Entry `Index` of a layer's parameters or buffers, with its extents as a type.
template <class Layer, std::size_t Index, bool Buffer> struct table_entry {
  static constexpr auto table = table_of<Layer, Buffer>();
  static constexpr bool exists = Index < table.size();
  static constexpr parameter info = [] {
    if constexpr (exists)
      return table[Index];
    else /* so that no other error follows */
      return parameter{"", {}};
  }();
  static constexpr std::size_t offset = offset_of(table, Index);

  template <std::size_t... Axis>
  static auto as_extents(std::index_sequence<Axis...>) -> devplace::extents<info.shape.extent[Axis]...>;
  using extents = decltype(as_extents(std::make_index_sequence<info.shape.rank>{}));
};

}  // namespace detail
}  // namespace devplace::nn
