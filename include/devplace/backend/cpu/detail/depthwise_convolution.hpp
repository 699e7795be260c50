// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/direct_convolution.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>

namespace devplace::detail {

/// Limits of depthwise convolutions. A group has at most depthwise_channels channels and outputs. The number of taps
/// times the number of channels, or of outputs, of a group is at most depthwise_depth.
inline constexpr std::size_t depthwise_channels = 4;
inline constexpr std::size_t depthwise_depth = 256;

/// Padded rows up to this length are all cleared together before elements are copied.
inline constexpr std::size_t depthwise_narrow = 48;

/// The division of a shape for convolutions whose groups have few channels (convolution_depthwise_body.hpp). The
/// division and the order of all sums depend only on the extents.
///
/// Images are copied with their padding, in segments of rows. Strides split a padded image into phases, each with every
/// stride-th row and column, so that consecutive outputs read consecutive elements. Rows of a phase have `pitch`
/// elements and are contiguous. Output rows also have `pitch` elements, so vectors continue across rows; outputs
/// without a window are dropped.
struct depthwise_convolution {
  std::size_t row_phases, column_phases;
  std::size_t extra_rows, extra_columns;  ///< rows (columns) of a phase minus rows (columns) of the outputs
  std::size_t pitch;                      ///< number of elements of a row
  std::size_t rows;                       ///< output rows per segment
  std::size_t plane;                      ///< elements of a segment, plus elements beyond it that vectors read
  bool is_faster;                         ///< whether groups are small and segments fit

  /// Elements that vectors may read and write beyond the last row: one vector of any instruction set.
  static constexpr std::size_t slack = 16;

  constexpr std::size_t phases() const { return row_phases * column_phases; }
  /// The phase that tap `t` reads, and the offset of the read relative to the first tap.
  constexpr std::size_t phase_of(const convolution_shape& s, std::size_t t) const {
    return s.row_of(t) * s.rows.dilation % s.rows.stride * column_phases +
           s.column_of(t) * s.columns.dilation % s.columns.stride;
  }
  constexpr std::size_t shift_of(const convolution_shape& s, std::size_t t) const {
    return s.row_of(t) * s.rows.dilation / s.rows.stride * pitch +
           s.column_of(t) * s.columns.dilation / s.columns.stride;
  }
  /// The offset of element p of a patch, whose channels' phases are contiguous.
  constexpr std::size_t offset_of(const convolution_shape& s, std::size_t p) const {
    const std::size_t tap = p % s.taps();
    return (p / s.taps() * phases() + phase_of(s, tap)) * plane + shift_of(s, tap);
  }
  /// The first row of phases that contains input, and the number of rows from this row to the last row with input.
  static constexpr std::size_t first_row(const convolution_shape& s) { return s.rows.padding / s.rows.stride; }
  static constexpr std::size_t rows_of_input(const convolution_shape& s) {
    return (s.rows.in - 1 + s.rows.padding) / s.rows.stride + 1 - first_row(s);
  }
};

/// Returns the division for vectors of `lanes` elements of `size` bytes.
DEVPLACE_COMPILABLE()
depthwise_convolution depthwise_convolution_of(const convolution_shape& s, std::size_t lanes, std::size_t size) {
  depthwise_convolution d{};
  if (s.pixels() == 0 || s.plane() == 0 || s.taps() == 0 || s.channels == 0 || s.outputs == 0) return d;
  if (s.channels > depthwise_channels || s.outputs > depthwise_channels) return d;
  if (s.channels > 1 && s.outputs > 1 && s.outputs % lanes == 0) return d;  // the other kernels are faster
  if (s.channels * s.taps() > depthwise_depth || s.outputs * s.taps() > depthwise_depth) return d;
  const std::size_t row_reach = (s.rows.size - 1) * s.rows.dilation;
  const std::size_t column_reach = (s.columns.size - 1) * s.columns.dilation;
  d.row_phases = smaller(s.rows.stride, row_reach + 1);
  d.column_phases = smaller(s.columns.stride, column_reach + 1);
  d.extra_rows = row_reach / s.rows.stride;
  d.extra_columns = column_reach / s.columns.stride;
  d.pitch = s.columns.out + d.extra_columns;
  const auto plane = [&](std::size_t rows) { return (rows + d.extra_rows) * d.pitch + d.extra_columns + d.slack; };
  const auto bytes = [&](std::size_t rows) {
    return (((s.channels + 1) * d.phases() + s.outputs + 1) * plane(rows) + s.columns.in) * size;
  };
  d.rows = s.rows.out;
  while (d.rows > 1 && bytes(d.rows) > gemm_buffer_bytes / 8) d.rows = (d.rows + 1) / 2;
  d.plane = plane(d.rows);
  d.is_faster = bytes(d.rows) <= gemm_buffer_bytes;
  return d;
}
DEVPLACE_COMPILED(depthwise_convolution depthwise_convolution_of(const convolution_shape&, std::size_t, std::size_t))

}  // namespace devplace::detail
