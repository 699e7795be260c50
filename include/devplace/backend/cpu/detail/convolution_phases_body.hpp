// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by convolution_kernels.hpp only: copies between images and the phases of depthwise_convolution.

template <std::size_t Width, class T>
DEVPLACE_TARGET inline void copy_rows_of(T* __restrict to, std::size_t to_pitch, const T* __restrict from,
                                         std::size_t from_pitch, std::size_t rows) {
  for (; rows != 0; --rows, to += to_pitch, from += from_pitch) {
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Width; ++i) to[i] = from[i];
  }
}

/// Copies `rows` rows of `width` elements; rows begin `to_pitch` and `from_pitch` elements apart.
template <class T, class From>
DEVPLACE_TARGET inline void copy_rows(T* to, std::size_t to_pitch, const From* from, std::size_t from_pitch,
                                      std::size_t width, std::size_t rows) {
  if (to_pitch == width && from_pitch == width) return copy_run(to, from, rows * width);
  if constexpr (std::is_same_v<T, From>) {
    if (width == 2) return copy_rows_of<2>(to, to_pitch, from, from_pitch, rows);
    if (width == 3) return copy_rows_of<3>(to, to_pitch, from, from_pitch, rows);
    if (width == 4) return copy_rows_of<4>(to, to_pitch, from, from_pitch, rows);
  }
  for (; rows != 0; --rows, to += to_pitch, from += from_pitch) copy_run(to, from, width);
}

/// Copies the phases of one channel that output rows [y0, y0 + n) read, with padding.
template <class T, class From>
DEVPLACE_TARGET inline void copy_phases(T* to, const depthwise_convolution& d, const convolution_shape& s,
                                        const From* image, std::size_t y0, std::size_t n) {
  const window_axis& a = s.columns;
  if (a.stride == 1 && s.rows.stride == 1 && d.pitch <= depthwise_narrow && a.padding + a.in <= d.pitch) {
    const std::size_t rows = n + d.extra_rows, padding = s.rows.padding;
    const auto [begin, end] = inside_range(s.rows.in, padding, y0, rows);
    fill_run(to, T{0}, rows * d.pitch + d.slack);
    if (begin < end)
      copy_rows(to + begin * d.pitch + a.padding, d.pitch, image + (y0 + begin - padding) * a.in, a.in, a.in,
                end - begin);
    return;
  }
  for (std::size_t phase = 0; phase < d.phases(); ++phase, to += d.plane) {
    const std::size_t f = phase % d.column_phases, first = phase / d.column_phases;
    const auto [begin, end] = inside_range(a.in, a.padding, f, d.pitch, a.stride);
    T* row = to;
    for (std::size_t r = 0; r < n + d.extra_rows; ++r, row += d.pitch) {
      const std::size_t at = (y0 + r) * s.rows.stride + first;
      fill_run(row, T{0}, d.pitch);
      if (begin < end && s.rows.inside(at))
        copy_strided(row + begin, image + (at - s.rows.padding) * a.in + begin * a.stride + f - a.padding, end - begin,
                     a.stride);
    }
    fill_run(row, T{0}, d.slack);  // the last vector reads beyond the row
  }
}

/// Copies rows [y0, y0 + n) of one channel of an output's gradient, d.pitch apart, after `above` rows. Zeros fill the
/// gaps between rows and all rows outside the gradient.
template <class T, class From>
DEVPLACE_TARGET inline void copy_gradient(T* to, const depthwise_convolution& d, const convolution_shape& s,
                                          const From* dy, std::size_t y0, std::size_t n, std::size_t above) {
  const std::size_t width = s.columns.out;
  const auto [begin, end] = inside_range(s.rows.out, above, y0, n);
  fill_run(to, T{0}, n * d.pitch + d.slack);
  if (begin < end)
    copy_rows(to + begin * d.pitch, d.pitch, dy + (y0 + begin - above) * width, width, width, end - begin);
}

/// Joins the sums of the phases of one padded row into `to`, without the padding; elements that no window reads become
/// `otherwise`.
template <class T>
DEVPLACE_TARGET inline void join_phases(T* to, const depthwise_convolution& d, const window_axis& a, const T* sums,
                                        T otherwise) {
  if (a.stride == 1) {
    const std::size_t read = smaller(a.in, d.pitch > a.padding ? d.pitch - a.padding : 0);
    copy_run(to, sums + a.padding, read);
    return fill_run(to + read, otherwise, a.in - read);
  }
  if (a.stride == 2 && d.column_phases == 2) {
    // Processes whole pairs; the padding may cut off half of the first pair.
    const std::size_t skip = a.padding % 2, first = (a.padding + 1) / 2;
    const std::size_t pairs = first < d.pitch ? smaller((a.in - smaller(skip, a.in)) / 2, d.pitch - first) : 0;
    if (skip != 0) to[0] = a.padding / 2 < d.pitch ? sums[d.plane + a.padding / 2] : otherwise;
    interleave(to + skip, sums + first, sums + d.plane + first, pairs);
    std::size_t i = skip + 2 * pairs;
    if (i < a.in && first + pairs < d.pitch) to[i++] = sums[first + pairs];
    if (i < a.in) fill_run(to + i, otherwise, a.in - i);
    return;
  }
  if (d.column_phases != a.stride || (a.in + a.padding - 1) / a.stride >= d.pitch) fill_run(to, otherwise, a.in);
  for (std::size_t f = 0; f < d.column_phases; ++f) {
    const auto [begin, end] = inside_range(a.in, a.padding, f, d.pitch, a.stride);
    T* out = to + begin * a.stride + f - a.padding;
    for (std::size_t i = begin; i < end; ++i, out += a.stride) *out = sums[f * d.plane + i];
  }
}
