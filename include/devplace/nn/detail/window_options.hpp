// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
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

/// The value of the option `Option<Rows, Columns>`, and how often it is given.
template <template <std::size_t, std::size_t, std::size_t...> class Option> struct pair_option {
  std::size_t rows, columns, count = 0;

  template <class Other> constexpr void read(const Other*) {}
  template <std::size_t Rows, std::size_t Columns> constexpr void read(const Option<Rows, Columns>*) {
    *this = {Rows, Columns, count + 1};
  }
  template <class... Options> constexpr pair_option among() const {
    pair_option result = *this;
    (result.read(static_cast<const Options*>(nullptr)), ...);
    return result;
  }
};

/// The options of a window along one axis.
struct axis_options {
  std::size_t size, stride, padding, dilation;

  friend constexpr bool operator==(const axis_options&, const axis_options&) = default;

  /// The extent of the dilated window.
  constexpr std::size_t reach() const { return (size - 1) * dilation + 1; }
  /// The smallest extent into which the window fits.
  constexpr std::size_t least() const { return reach() > 2 * padding ? reach() - 2 * padding : 1; }
  /// The axis of a convolution whose input has the extent `in`, into which the window must fit.
  constexpr devplace::detail::window_axis over(std::size_t in) const {
    return {in, (in + 2 * padding - reach()) / stride + 1, size, stride, padding, dilation};
  }
  /// The axis of a convolution whose output has the extent `out`; `in` is 0 if the padding leaves no input.
  constexpr devplace::detail::window_axis giving(std::size_t out) const {
    const std::size_t whole = (out - 1) * stride + reach();
    return {whole > 2 * padding ? whole - 2 * padding : 0, out, size, stride, padding, dilation};
  }
};

template <class Option> inline constexpr std::size_t group_count = 0;
template <std::size_t Count> inline constexpr std::size_t group_count<groups<Count>> = Count;

/// The values of a convolution's or a pooling's options. With `StrideIsKernel` the stride's default is the kernel.
template <bool StrideIsKernel, class... Options> struct window_options {
 private:
  static constexpr auto size = pair_option<kernel>{1, 1}.template among<Options...>();
  static constexpr pair_option<stride> every{StrideIsKernel ? size.rows : 1, StrideIsKernel ? size.columns : 1};
  static constexpr auto step = every.template among<Options...>();
  static constexpr auto pad = pair_option<padding>{0, 0}.template among<Options...>();
  static constexpr auto dilate = pair_option<dilation>{1, 1}.template among<Options...>();

 public:
  static constexpr axis_options rows{size.rows, step.rows, pad.rows, dilate.rows};
  static constexpr axis_options columns{size.columns, step.columns, pad.columns, dilate.columns};
  static constexpr std::size_t dilations = dilate.count;
  static constexpr std::size_t groupings = (std::size_t{group_count<Options> != 0} + ... + 0);
  static constexpr std::size_t no_biases = (std::size_t{std::is_same_v<Options, no_bias>} + ... + 0);
  /// Whether each type is an option, and none is given twice.
  static constexpr bool known =
      size.count + step.count + pad.count + dilations + groupings + no_biases == sizeof...(Options) &&
      std::max({size.count, step.count, pad.count, dilations, groupings, no_biases}) <= 1;
  static constexpr bool has_kernel = size.count == 1;
  static constexpr std::size_t group_number = groupings == 0 ? 1 : (group_count<Options> + ... + 0);
  static_assert(check_sizes<size.rows, size.columns, step.rows, step.columns, pad.rows, pad.columns, dilate.rows,
                            dilate.columns, group_number>());
  static constexpr bool bias = no_biases == 0;
  /// Whether no option distinguishes rows and columns.
  static constexpr bool square = rows == columns;
  /// Number of elements of a window over one or two axes.
  template <std::size_t Axes> static constexpr std::size_t taps = Axes == 1 ? size.rows : size.rows * size.columns;
  static constexpr bool positive =
      size.rows * size.columns * step.rows * step.columns * dilate.rows * dilate.columns != 0;
};

/// The extents of the smallest samples into which the windows fit.
template <class Options, std::size_t Axes, std::size_t Channels>
using least_sample = std::conditional_t<Axes == 2, extents<Channels, Options::rows.least(), Options::columns.least()>,
                                        extents<Channels, Options::rows.least()>>;

/// The input extents of a layer with windows: `type` is X if X fits, otherwise a stand-in, so that the rest of the plan
/// compiles; `expected` is for the error message. `Channels` is 0 if the layer accepts any number of channels. This
/// template is for samples of another rank.
template <class Options, std::size_t Axes, std::size_t Channels, class X>
struct window_fit : window_fit<Options, Axes, Channels, least_sample<Options, Axes, Channels == 0 ? 1 : Channels>> {
  using expected = at_least<typename window_fit::type>;
};

template <class Options, std::size_t Channels, std::size_t C, std::size_t H, std::size_t W>
struct window_fit<Options, 2, Channels, extents<C, H, W>> {
  static constexpr std::size_t channels = Channels == 0 ? C : Channels;
  static constexpr bool large = H >= Options::rows.least() && W >= Options::columns.least();
  using type = extents<channels, std::max(H, Options::rows.least()), std::max(W, Options::columns.least())>;
  using expected = std::conditional_t<large, type, at_least<least_sample<Options, 2, channels>>>;

  static constexpr auto rows = Options::rows.over(type::static_extent(1));
  static constexpr auto columns = Options::columns.over(type::static_extent(2));
  template <std::size_t Out> using windows = extents<Out, rows.out, columns.out>;
  static constexpr devplace::detail::convolution_shape shape(std::size_t samples, std::size_t groups, std::size_t out) {
    return {samples, groups, channels / groups, out / groups, rows, columns};
  }
};

template <class Options, std::size_t Channels, std::size_t C, std::size_t W>
struct window_fit<Options, 1, Channels, extents<C, W>> {
  static constexpr std::size_t channels = Channels == 0 ? C : Channels;
  static constexpr bool large = W >= Options::rows.least();
  using type = extents<channels, std::max(W, Options::rows.least())>;
  using expected = std::conditional_t<large, type, at_least<least_sample<Options, 1, channels>>>;

  static constexpr devplace::detail::window_axis rows{1, 1, 1, 1, 0, 1};
  static constexpr auto columns = Options::rows.over(type::static_extent(1));
  template <std::size_t Out> using windows = extents<Out, columns.out>;
  static constexpr devplace::detail::convolution_shape shape(std::size_t samples, std::size_t groups, std::size_t out) {
    return {samples, groups, channels / groups, out / groups, rows, columns};
  }
};

}  // namespace detail
}  // namespace devplace::nn
