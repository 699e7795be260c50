// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>

namespace devplace::detail {

/// Sizes of the packed blocks of convolutions, which share a thread's buffer with products. They correspond to
/// gemm_block_depth and so on, but all blocks together fit a second-level cache of 1 MiB, because images are read again
/// for every block.
inline constexpr std::size_t convolution_block_depth = 256;
template <class T> inline constexpr std::size_t convolution_block_rows = gemm_block_rows<T>;
template <class T> inline constexpr std::size_t convolution_block_columns = gemm_block_columns<T> / 2;
inline constexpr std::size_t convolution_buffer_bytes = std::size_t{576} << 10U;

/// The division of a shape for direct convolutions (convolution_direct_body.hpp). The division and the order of all
/// sums depend only on the extents.
///
/// Images are copied with their padding, in segments of rows. With stride s, a padded row is split into s phases; phase
/// f holds elements f, f + s, f + 2s, ..., so that consecutive outputs read consecutive elements.
struct direct_convolution {
  /// Widths of register tiles: in pixels of an output row, and in patch elements of the weight's gradient.
  std::size_t pixel_tile_width, patch_tile_width;
  std::size_t phases, phase, row, plane;  ///< number of phases of a row; elements per phase, row and channel
  std::size_t channels;                   ///< channels copied at a time
  std::size_t rows;                       ///< output rows per segment
  std::size_t segments;                   ///< segments copied at a time
  std::size_t gradient_segments;          ///< segments copied at a time with the gradient of the output
  /// Whether the segments fit the buffer and more than half of the elements of the register tiles are used.
  bool is_faster;
  bool gradient_is_faster;

  /// Returns the offset that tap `t` reads, relative to the first tap.
  constexpr std::size_t at_tap(const convolution_shape& s, std::size_t t) const {
    const std::size_t column = s.column_of(t) * s.columns.dilation;
    return s.row_of(t) * s.rows.dilation * row + column % s.columns.stride * phase + column / s.columns.stride;
  }
  /// Returns the end of the segment of output rows from row `at` on; rows are numbered across images.
  constexpr std::size_t segment_end(const convolution_shape& s, std::size_t at) const {
    return at + smaller(s.rows.out - at % s.rows.out, rows);
  }
  /// Returns the number of rows of padded images that `n` rows of outputs read.
  static constexpr std::size_t span(const convolution_shape& s, std::size_t n) {
    return (n - 1) * s.rows.stride + (s.rows.size - 1) * s.rows.dilation + 1;
  }
};

/// The numbers [begin, end) below `count` of the positions at, at + stride, ... of a padded axis that are in the input.
struct inside_range {
  std::size_t begin, end;

  constexpr inside_range(std::size_t in, std::size_t padding, std::size_t at, std::size_t count, std::size_t stride = 1)
      : begin(smaller(at < padding ? divided_up(padding - at, stride) : 0, count)),
        end(smaller(at < in + padding ? divided_up(in + padding - at, stride) : 0, count)) {}
};

/// Returns the width of a register tile, one of `widths`, with which `n` columns take the least time.
constexpr std::size_t tile_width(std::size_t n, const unsigned char* widths) {
  std::size_t best = *widths;
  for (; *widths != 0; ++widths)
    if (divided_up(n, *widths) * (*widths + 1U) < divided_up(n, best) * (best + 1)) best = *widths;
  return best;
}

/// Returns the division for vectors of `lanes` elements of `size` bytes and register tiles of these widths.
DEVPLACE_COMPILABLE()
direct_convolution direct_convolution_of(const convolution_shape& s, std::size_t lanes, std::size_t size,
                                         const unsigned char* widths) {
  direct_convolution d{};
  const std::size_t reach = (s.columns.size - 1) * s.columns.dilation;
  d.phases = smaller(s.columns.stride, reach + 1);
  d.phase = s.columns.out + reach / s.columns.stride;
  d.row = d.phases * d.phase;
  d.pixel_tile_width = tile_width(s.columns.out, widths);
  if (s.pixels() == 0 || s.channels == 0 || s.taps() > convolution_depth) return d;

  const std::size_t blocks = divided_up(s.depth(), convolution_depth);
  d.channels = divided_up(s.channels, blocks);
  while (d.channels * s.taps() > convolution_depth) --d.channels;
  d.patch_tile_width = tile_width(d.channels * s.taps(), widths);
  const std::size_t panel = 2 * lanes * (convolution_depth + 1);
  const std::size_t room = convolution_buffer_bytes / size - panel;
  const auto segment = [&](std::size_t rows) { return d.channels * (d.span(s, rows) * d.row + d.pixel_tile_width); };
  const auto with_gradient = [&](std::size_t rows) { return segment(rows) + rows * s.columns.out * 2 * lanes; };
  d.rows = s.rows.out;
  while (d.rows > 1 && with_gradient(d.rows) > room) d.rows = (d.rows + 1) / 2;
  if (with_gradient(d.rows) > room) return d;
  d.plane = d.span(s, d.rows) * d.row + d.pixel_tile_width;
  d.segments = room / segment(d.rows);
  d.gradient_segments = room / with_gradient(d.rows);
  const std::size_t pixels = padded_to(s.columns.out, d.pixel_tile_width);
  const std::size_t outputs = padded_to(s.outputs, lanes);
  d.is_faster = 2 * s.columns.out * s.outputs > pixels * outputs;
  d.gradient_is_faster = 2 * s.outputs > outputs;
  return d;
}
DEVPLACE_COMPILED(direct_convolution direct_convolution_of(const convolution_shape&, std::size_t, std::size_t,
                                                           const unsigned char*))

}  // namespace devplace::detail
