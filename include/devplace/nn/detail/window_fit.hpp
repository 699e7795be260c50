// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/window_options.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn::detail {

/// The input extents of a layer with windows: `type` is X if X fits, otherwise a stand-in for the rest of the network's
/// plan; `expected` is for the error message. `Channels` is 0 if the layer accepts any number of channels.
template <class Options, std::size_t Axes, std::size_t Channels, class X> struct window_fit;

constexpr std::size_t larger(std::size_t a, std::size_t b) { return a > b ? a : b; }

template <class Options, std::size_t Channels, std::size_t C, std::size_t H, std::size_t W>
struct window_fit<Options, 2, Channels, extents<C, H, W>> {
  static constexpr std::size_t channels = Channels == 0 ? C : Channels;
  static constexpr bool large = H >= Options::least_rows && W >= Options::least_columns;
  using type = extents<channels, larger(H, Options::least_rows), larger(W, Options::least_columns)>;
  using expected =
      std::conditional_t<large, type, at_least<extents<channels, Options::least_rows, Options::least_columns>>>;

  static constexpr auto rows = Options::rows(type::static_extent(1));
  static constexpr auto columns = Options::columns(type::static_extent(2));
  template <std::size_t Out> using windows = extents<Out, rows.out, columns.out>;
  static constexpr devplace::detail::convolution_shape shape(std::size_t samples, std::size_t groups, std::size_t out) {
    return {samples, groups, channels / groups, out / groups, rows, columns};
  }
};

template <class Options, std::size_t Channels, std::size_t C, std::size_t W>
struct window_fit<Options, 1, Channels, extents<C, W>> {
  static constexpr std::size_t channels = Channels == 0 ? C : Channels;
  static constexpr bool large = W >= Options::least_rows;
  using type = extents<channels, larger(W, Options::least_rows)>;
  using expected = std::conditional_t<large, type, at_least<extents<channels, Options::least_rows>>>;

  static constexpr devplace::detail::window_axis rows{1, 1, 1, 1, 0, 1};
  static constexpr auto columns = Options::rows(type::static_extent(1));
  template <std::size_t Out> using windows = extents<Out, columns.out>;
  static constexpr devplace::detail::convolution_shape shape(std::size_t samples, std::size_t groups, std::size_t out) {
    return {samples, groups, channels / groups, out / groups, rows, columns};
  }
};

// Samples of another rank.
template <class Options, std::size_t Channels, class X>
struct window_fit<Options, 2, Channels, X>
    : window_fit<Options, 2, Channels, extents<larger(Channels, 1), Options::least_rows, Options::least_columns>> {
  using expected = at_least<typename window_fit::type>;
};
template <class Options, std::size_t Channels, class X>
struct window_fit<Options, 1, Channels, X>
    : window_fit<Options, 1, Channels, extents<larger(Channels, 1), Options::least_rows>> {
  using expected = at_least<typename window_fit::type>;
};

}  // namespace devplace::nn::detail
