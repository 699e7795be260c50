// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn {

/// Options of convolutions and poolings, as types in any order: `conv2d<3, 16, kernel<3>, stride<2>, padding<1>>`. One
/// number applies to both axes; `kernel<3, 5>` has 3 rows and 5 columns. `More` is for error messages.
///@{

/// Extents of the window.
template <std::size_t Rows, std::size_t Columns = Rows, std::size_t... More> struct kernel {};
/// Steps between windows: by default 1 in convolutions, the extents of the window in poolings.
template <std::size_t Rows, std::size_t Columns = Rows, std::size_t... More> struct stride {};
/// Zeros on each side of the input, 0 by default.
template <std::size_t Rows, std::size_t Columns = Rows, std::size_t... More> struct padding {};
/// Steps between the elements of a window, 1 by default.
template <std::size_t Rows, std::size_t Columns = Rows, std::size_t... More> struct dilation {};
/// Number of groups of channels that are convolved separately, 1 by default.
template <std::size_t Count> struct groups {};
/// Leaves out a convolution's bias.
struct no_bias {};

///@}

namespace detail {

/// The value of an option with two sizes; `given` is false for a default.
struct pair_of_sizes {
  std::size_t rows, columns;
  bool given = true;
};
/// Finds the option `Option<Rows, Columns>` among types.
template <template <std::size_t, std::size_t, std::size_t...> class Option> struct pair_option {
  static constexpr pair_of_sizes none{0, 0, false};
  template <class Other> static constexpr pair_of_sizes read(const Other*) { return none; }
  template <std::size_t Rows, std::size_t Columns> static constexpr pair_of_sizes read(const Option<Rows, Columns>*) {
    return {Rows, Columns};
  }
  template <class... Options>
  static constexpr pair_of_sizes among(std::size_t otherwise_rows, std::size_t otherwise_columns) {
    pair_of_sizes found{otherwise_rows, otherwise_columns, false};
    ((read(static_cast<const Options*>(nullptr)).given
          ? static_cast<void>(found = read(static_cast<const Options*>(nullptr)))
          : static_cast<void>(0)),
     ...);
    return found;
  }
  template <class... Options>
  static constexpr std::size_t count = (std::size_t{read(static_cast<const Options*>(nullptr)).given} + ... + 0);
};

template <class Option> inline constexpr std::size_t group_count = 0;
template <std::size_t Count> inline constexpr std::size_t group_count<groups<Count>> = Count;

/// The values of a convolution's or a pooling's options. With `StrideIsKernel` the stride's default is the kernel.
template <bool StrideIsKernel, class... Options> struct window_options {
  static constexpr std::size_t kernels = pair_option<kernel>::template count<Options...>,
                               strides = pair_option<stride>::template count<Options...>,
                               paddings = pair_option<padding>::template count<Options...>,
                               dilations = pair_option<dilation>::template count<Options...>,
                               groupings = (std::size_t{group_count<Options> != 0} + ... + 0),
                               no_biases = (std::size_t{std::is_same_v<Options, no_bias>} + ... + 0);
  /// Whether each type is an option, and none is given twice.
  static constexpr bool known =
      kernels + strides + paddings + dilations + groupings + no_biases == sizeof...(Options) && strides <= 1 &&
      paddings <= 1 && dilations <= 1 && groupings <= 1 && no_biases <= 1;
  static constexpr bool has_kernel = kernels == 1;
  static constexpr pair_of_sizes size = pair_option<kernel>::template among<Options...>(1, 1);
  static constexpr pair_of_sizes step = pair_option<stride>::template among<Options...>(
      StrideIsKernel ? size.rows : 1, StrideIsKernel ? size.columns : 1);
  static constexpr pair_of_sizes pad = pair_option<padding>::template among<Options...>(0, 0);
  static constexpr pair_of_sizes dilate = pair_option<dilation>::template among<Options...>(1, 1);
  static constexpr std::size_t group_number = groupings == 0 ? 1 : (group_count<Options> + ... + 0);
  static_assert(check_sizes<size.rows, size.columns, step.rows, step.columns, pad.rows, pad.columns, dilate.rows,
                            dilate.columns, group_number>());
  static constexpr bool bias = no_biases == 0;
  /// Whether no option distinguishes rows and columns.
  static constexpr bool square = size.rows == size.columns && step.rows == step.columns && pad.rows == pad.columns &&
                                 dilate.rows == dilate.columns;
  /// Number of elements of a window over one or two axes.
  template <std::size_t Axes> static constexpr std::size_t taps = Axes == 1 ? size.rows : size.rows * size.columns;
  static constexpr bool positive =
      size.rows * size.columns * step.rows * step.columns * dilate.rows * dilate.columns != 0;

  /// The extent of the dilated window.
  static constexpr std::size_t reach_rows = (size.rows - 1) * dilate.rows + 1;
  static constexpr std::size_t reach_columns = (size.columns - 1) * dilate.columns + 1;

  /// The axes of images with these extents; the window must fit into the images.
  static constexpr devplace::detail::window_axis rows(std::size_t height) {
    return {height, (height + 2 * pad.rows - reach_rows) / step.rows + 1, size.rows, step.rows, pad.rows, dilate.rows};
  }
  static constexpr devplace::detail::window_axis columns(std::size_t width) {
    return {width,        (width + 2 * pad.columns - reach_columns) / step.columns + 1,
            size.columns, step.columns,
            pad.columns,  dilate.columns};
  }

  /// The extents of the smallest image into which the window fits.
  static constexpr std::size_t least_rows = reach_rows > 2 * pad.rows ? reach_rows - 2 * pad.rows : 1;
  static constexpr std::size_t least_columns = reach_columns > 2 * pad.columns ? reach_columns - 2 * pad.columns : 1;
};

/// Whether the call of a layer with windows has the shape of its image, as a run-time value (strip_window.hpp).
template <class Call> inline constexpr bool is_of_image = false;

constexpr std::size_t larger(std::size_t a, std::size_t b) { return a > b ? a : b; }

/// The extents of the smallest samples into which the windows fit.
template <class Options, std::size_t Axes, std::size_t Channels>
using least_sample = std::conditional_t<Axes == 2, extents<Channels, Options::least_rows, Options::least_columns>,
                                        extents<Channels, Options::least_rows>>;

/// The input extents of a layer with windows: `type` is X if X fits, otherwise a stand-in, so that the rest of the plan
/// compiles; `expected` is for the error message. `Channels` is 0 if the layer accepts any number of channels. This
/// template is for samples of another rank.
template <class Options, std::size_t Axes, std::size_t Channels, class X>
struct window_fit : window_fit<Options, Axes, Channels, least_sample<Options, Axes, larger(Channels, 1)>> {
  using expected = at_least<typename window_fit::type>;
};

template <class Options, std::size_t Channels, std::size_t C, std::size_t H, std::size_t W>
struct window_fit<Options, 2, Channels, extents<C, H, W>> {
  static constexpr std::size_t channels = Channels == 0 ? C : Channels;
  static constexpr bool large = H >= Options::least_rows && W >= Options::least_columns;
  using type = extents<channels, larger(H, Options::least_rows), larger(W, Options::least_columns)>;
  using expected = std::conditional_t<large, type, at_least<least_sample<Options, 2, channels>>>;

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
  using expected = std::conditional_t<large, type, at_least<least_sample<Options, 1, channels>>>;

  static constexpr devplace::detail::window_axis rows{1, 1, 1, 1, 0, 1};
  static constexpr auto columns = Options::rows(type::static_extent(1));
  template <std::size_t Out> using windows = extents<Out, columns.out>;
  static constexpr devplace::detail::convolution_shape shape(std::size_t samples, std::size_t groups, std::size_t out) {
    return {samples, groups, channels / groups, out / groups, rows, columns};
  }
};

}  // namespace detail
}  // namespace devplace::nn
