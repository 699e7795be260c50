// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <devplace/nn/avg_pool2d.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/concat_of.hpp>
#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/conv_transpose2d.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/strip_dropout.hpp>
#include <devplace/nn/detail/strip_group_norm.hpp>
#include <devplace/nn/detail/strip_window.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/group_norm.hpp>
#include <devplace/nn/identity.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/learning_rate_times.hpp>
#include <devplace/nn/max_pool2d.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sum_of.hpp>
#include <devplace/place/axis.hpp>

namespace devplace::nn {

namespace detail {

/// Whether a layer computes each row of an image from the same row of its input alone.
template <class Layer>
concept works_on_rows = requires { requires Layer::works_on_rows; };

/// Reject what has no form. Functions, so that clang prints no further error. Return true.
///@{
template <class Layer> consteval bool check_form() {
  constexpr bool has_form = works_on_rows<Layer>;
  static_assert(has_form,
                "devplace: in_parts: this layer has no form for images whose rows lie on several places; such networks "
                "consist of conv2d, conv_transpose2d, max_pool2d, avg_pool2d, batch_norm, group_norm, dropout, "
                "upsample, elementwise layers, residual, sum_of and concat_of; a layer of your own that computes each "
                "row of an image on its own declares static constexpr bool works_on_rows = true.");
  return true;
}
template <std::size_t Rank> consteval bool check_input_of_strips() {
  constexpr bool of_images = Rank == 3;
  static_assert(of_images, "devplace: in_parts: the network's input is an image, nn::input<channels, rows, columns>.");
  return true;
}
template <std::size_t Rows, std::size_t Parts> consteval bool check_rows_of_strips() {
  constexpr bool divides = Rows % Parts == 0 && Rows != 0;
  static_assert(divides,
                "devplace: in_parts: the places have equally many rows of each image, so the number of places divides "
                "the rows in nn::input<channels, rows, columns>.");
  return true;
}
template <class Options> consteval bool check_transposed_strips() {
  constexpr bool of_own_rows = Options::rows.reach() == Options::rows.stride && Options::rows.padding == 0;
  static_assert(of_own_rows,
                "devplace: in_parts: a conv_transpose2d has no form for rows on several places unless its kernel is "
                "its stride and it has no padding, as in conv_transpose2d<16, 8, kernel<2>, stride<2>>.");
  return true;
}
template <std::size_t Axis> consteval bool check_joined_strips() {
  constexpr bool not_rows = Axis != 2;
  static_assert(not_rows, "devplace: in_parts: concat_of<axis<2>, ...> joins images along the rows that are split.");
  return true;
}
///@}

/// The form of a layer for one of `Parts` places, each of which has a strip of the rows of every image.
template <class Layer, std::size_t Parts> struct strip_form {
  static_assert(check_form<Layer>());
  using type = std::conditional_t<works_on_rows<Layer>, Layer, identity>;
};
template <class Layer, std::size_t Parts> using strip_t = typename strip_form<Layer, Parts>::type;

template <std::size_t... E, std::size_t Parts> struct strip_form<input<E...>, Parts> {
  static_assert(check_input_of_strips<sizeof...(E)>());
  using type = input<E...>;
};
template <std::size_t C, std::size_t H, std::size_t W, std::size_t Parts> struct strip_form<input<C, H, W>, Parts> {
  static_assert(check_rows_of_strips<H, Parts>());
  using type = input<C, H % Parts == 0 ? H / Parts : H, W>;
};

template <class Layer, class Options>
using window_form =
    std::type_identity<std::conditional_t<strip_windows<Options>::reaches_over, windows_over_edges<Layer, Options>,
                                          local_windows<Layer, Options>>>;
template <std::size_t In, std::size_t Out, class... Options, std::size_t Parts>
struct strip_form<conv2d<In, Out, Options...>, Parts>
    : window_form<conv2d<In, Out, Options...>, window_options<false, Options...>> {};
template <class... Options, std::size_t Parts>
struct strip_form<max_pool2d<Options...>, Parts>
    : window_form<max_pool2d<Options...>, window_options<true, Options...>> {};
template <class... Options, std::size_t Parts>
struct strip_form<avg_pool2d<Options...>, Parts>
    : window_form<avg_pool2d<Options...>, window_options<true, Options...>> {};

/// A transposed convolution whose kernel is its stride gives each row of the input rows of its own.
template <std::size_t In, std::size_t Out, class... Options, std::size_t Parts>
struct strip_form<conv_transpose2d<In, Out, Options...>, Parts>
    : std::type_identity<conv_transpose2d<In, Out, Options...>> {
  static_assert(check_transposed_strips<window_options<false, Options...>>());
};

/// The statistics are those of whole images.
template <std::size_t Channels, class Samples, class... More, std::size_t Parts>
struct strip_form<batch_norm<Channels, Samples, More...>, Parts>
    : std::type_identity<batch_norm<Channels, over_all_places, More...>> {};
template <std::size_t Groups, std::size_t Channels, class Epsilon, std::size_t Parts>
struct strip_form<group_norm<Groups, Channels, Epsilon>, Parts>
    : std::type_identity<strip_group_norm<Parts, Groups, Channels, Epsilon>> {};
template <class Probability, std::size_t Parts>
struct strip_form<dropout<Probability>, Parts> : std::type_identity<strip_dropout<Parts, Probability>> {};

template <has_name Layer, std::size_t Parts>
struct strip_form<Layer, Parts>
    : std::type_identity<named_layer<typename Layer::layer_name, strip_t<typename Layer::wrapped_layer, Parts>>> {};
template <class... Layer, std::size_t Parts>
struct strip_form<frozen<Layer...>, Parts>
    : std::type_identity<frozen<strip_t<typename frozen<Layer...>::wrapped_layer, Parts>>> {};
template <class Factor, class... Layer, std::size_t Parts>
struct strip_form<learning_rate_times<Factor, Layer...>, Parts>
    : std::type_identity<
          learning_rate_times<Factor, strip_t<typename learning_rate_times<Factor, Layer...>::wrapped_layer, Parts>>> {
};
template <template <class...> class List, class... Layers, std::size_t Parts>
  requires(std::same_as<List<>, sequential<>> || std::same_as<List<>, residual<>> ||
           std::same_as<List<>, projected_by<>> || std::same_as<List<>, sum_of<>> ||
           std::same_as<List<>, concat_of<>> || std::same_as<List<>, recomputed<>>)
struct strip_form<List<Layers...>, Parts> : std::type_identity<List<strip_t<Layers, Parts>...>> {};
template <std::size_t Axis, std::size_t Parts> struct strip_form<axis<Axis>, Parts> : std::type_identity<axis<Axis>> {
  static_assert(check_joined_strips<Axis>());
};

}  // namespace detail

/// The network of one of `Parts` places that split the rows of images: `Net` on a strip of the rows. Its parameters are
/// those of `Net`. Its passes stop where the places exchange rows and sums.
template <class Net, std::size_t Parts> struct strips {
  /// The network without this name.
  using wrapped_layer = detail::strip_t<Net, Parts>;
};

namespace detail {

template <class Net, std::size_t Parts, class In>
struct layer_plan<strips<Net, Parts>, In> : layer_plan<typename strips<Net, Parts>::wrapped_layer, In> {};

}  // namespace detail
}  // namespace devplace::nn
