// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/nn/detail/window_options.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn::detail {

/// The input extents of a layer for images of any size: `X` if they fit, else a stand-in as in window_fit.
template <class X> struct image_fit {
  using type = extents<1, 1, 1>;
  using expected = at_least<type>;
};
template <std::size_t C, std::size_t H, std::size_t W>
struct image_fit<extents<C, H, W>> : std::type_identity<extents<C, H, W>> {};

/// image_fit for layers that also take series.
template <class X> struct image_or_series_fit : image_fit<X> {};
template <std::size_t C, std::size_t L>
struct image_or_series_fit<extents<C, L>> : std::type_identity<extents<C, L>> {};

/// The input extents of a transposed convolution of `Channels` channels: `X` if they fit, else a stand-in. The
/// layer computes the gradient of a convolution: `rows` and `columns` are the axes of this convolution, whose `in` are
/// the extents of the layer's output.
template <class Options, std::size_t Channels, class X> struct transposed_fit {
  static constexpr std::size_t rank = X::rank;
  /// An extent of X or, if X is no image, the smallest extent for which the padding leaves an output.
  static constexpr std::size_t extent(std::size_t axis, const axis_options& window) {
    if constexpr (rank == 3)
      return X::static_extent(axis);
    else
      return window.giving(1).in > 0 ? 1 : (2 * window.padding - window.reach()) / window.stride + 2;
  }
  static constexpr std::size_t height = extent(1, Options::rows), width = extent(2, Options::columns);
  static constexpr auto rows = Options::rows.giving(height), columns = Options::columns.giving(width);
  static_assert(rows.in > 0 && columns.in > 0,
                "devplace: the padding of conv_transpose2d removes all of its output; reduce the padding.");
  using type = extents<Channels, height, width>;
  using expected = std::conditional_t<rank == 3, type, at_least<type>>;
};

}  // namespace devplace::nn::detail
