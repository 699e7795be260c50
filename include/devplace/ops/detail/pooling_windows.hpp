// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>

// The windows of pooling layers, and the orders in which their elements are visited.
namespace devplace::detail {

/// Windows over planes, images of one channel each.
struct pooling_shape {
  window_axis rows, columns;

  DEVPLACE_HD constexpr std::size_t plane() const { return rows.in * columns.in; }
  DEVPLACE_HD constexpr std::size_t windows() const { return rows.out * columns.out; }
  DEVPLACE_HD constexpr std::size_t taps() const { return rows.size * columns.size; }
};

/// Calls f(at) for the elements of the image in window (row, column), in order.
DEVPLACE_HD void for_each_in_window(const pooling_shape& s, std::size_t row, std::size_t column, const auto& f) {
  for (std::size_t i = 0; i < s.rows.size; ++i) {
    const std::size_t y = s.rows.padded(row, i);
    if (!s.rows.inside(y)) continue;
    for (std::size_t j = 0; j < s.columns.size; ++j) {
      const std::size_t x = s.columns.padded(column, j);
      if (s.columns.inside(x)) f((y - s.rows.padding) * s.columns.in + (x - s.columns.padding));
    }
  }
}

/// Calls f(row, column) for the windows that contain element `at` of an image, in order.
template <class F> DEVPLACE_HD void for_each_window_of(const pooling_shape& s, std::size_t at, const F& f) {
  const std::size_t y = at / s.columns.in + s.rows.padding, x = at % s.columns.in + s.columns.padding;
  for (std::size_t i = s.rows.size; i-- != 0;) {
    const std::size_t up = i * s.rows.dilation;
    if (y < up || (y - up) % s.rows.stride != 0 || (y - up) / s.rows.stride >= s.rows.out) continue;
    for (std::size_t j = s.columns.size; j-- != 0;) {
      const std::size_t left = j * s.columns.dilation;
      if (x < left || (x - left) % s.columns.stride != 0 || (x - left) / s.columns.stride >= s.columns.out) continue;
      f((y - up) / s.rows.stride, (x - left) / s.columns.stride);
    }
  }
}

/// Whether windows are adjacent squares of 2 x 2 elements, the most common ones: none overlap, and all are inside.
constexpr bool in_squares(const pooling_shape& s) {
  const auto in_twos = [](const window_axis& a) {
    return a.size == 2 && a.stride == 2 && a.padding == 0 && a.dilation == 1;
  };
  return in_twos(s.rows) && in_twos(s.columns);
}

/// Whether rows of such windows have at least one vector.
constexpr bool have_vectors(const pooling_shape& s) { return in_squares(s) && s.columns.out >= 4; }

/// Whether these vectors cover all elements: the last row or column may be in no window.
constexpr bool vectors_cover(const pooling_shape& s) { return have_vectors(s) && s.plane() == 4 * s.windows(); }

/// For such windows of planes [begin, end), calls f(first, at, lanes) for runs of `lanes` windows, a constant. The
/// windows begin with window `first` and with element `at`; runs may overlap.
void for_each_run_of_squares(const pooling_shape& s, std::size_t begin, std::size_t end, const auto& f) {
  const auto in_runs = [&](auto lanes) {
    const std::size_t n = s.columns.out;
    for (std::size_t row = begin * s.rows.out; row < end * s.rows.out; ++row) {
      const std::size_t at = (row / s.rows.out * s.rows.in + row % s.rows.out * 2) * s.columns.in;
      for (std::size_t next = 0; next < n; next += lanes) {
        const std::size_t first = next + lanes < n ? next : n - lanes;
        f(row * n + first, at + 2 * first, lanes);
      }
    }
  };
  if (s.columns.out < 8)
    in_runs(std::integral_constant<std::size_t, 4>{});
  else
    in_runs(std::integral_constant<std::size_t, 8>{});
}

/// A line of windows along one axis: the windows of planes [plane, plane + planes), and of the corresponding ranges of
/// rows and columns. Two of the three counts are 1.
struct window_line {
  static constexpr std::size_t most = 256;  // windows that are computed together
  std::size_t plane, row, column, planes, rows, columns;
  std::size_t first, step;  ///< index of the first window in the result, and distance to the next index
  std::size_t stride;       ///< elements of the image from one window to the next

  std::size_t count() const { return planes * rows * columns; }
  /// Returns the memory for the windows' results: `to` if the results are contiguous there, otherwise `buffer`; store()
  /// then copies the results to `to`.
  template <class T> T* results(T* to, T* buffer) const { return step == 1 ? to + first : buffer; }
  template <class T> void store(T* to, const T* results) const {
    if (step == 1) return;
    for (std::size_t k = 0; k < count(); ++k) to[first + k * step] = results[k];
  }
};

/// Calls f(line) for all windows of planes [begin, end): lines run along rows, along columns if rows are short, or
/// across planes if columns are short too.
template <class F> void for_each_line(const pooling_shape& s, std::size_t begin, std::size_t end, const F& f) {
  constexpr std::size_t few = 8;
  const bool across = s.columns.out < few && s.rows.out < few && s.plane() <= 4096;
  const bool down = s.columns.out < few && !across;
  const std::size_t step = across ? s.windows() : down ? s.columns.out : 1;
  const std::size_t stride = across ? s.plane() : down ? s.columns.in * s.rows.stride : s.columns.stride;
  const std::size_t planes = across ? window_line::most : 1, rows = down ? window_line::most : 1;
  const std::size_t columns = across || down ? 1 : window_line::most;
  const auto part = [](std::size_t from, std::size_t n, std::size_t to) { return n < to - from ? n : to - from; };
  for (std::size_t p = begin; p < end; p += planes)
    for (std::size_t r = 0; r < s.rows.out; r += rows)
      for (std::size_t c = 0; c < s.columns.out; c += columns)
        f(window_line{p, r, c, part(p, planes, end), part(r, rows, s.rows.out), part(c, columns, s.columns.out),
                      (p * s.rows.out + r) * s.columns.out + c, step, stride});
}

/// Calls f(first, n, at, stride) for each tap of the windows of a line. The tap is inside the image for `n` windows
/// from `first` on. For window `first`, the tap is at element `at` of the line's first plane; for each next window it
/// is `stride` elements further.
template <class F> void for_each_tap(const pooling_shape& s, const window_line& line, const F& f) {
  struct part {
    std::size_t first, n;
    part(const window_axis& a, std::size_t tap, std::size_t begin, std::size_t count) {
      const std::size_t low = a.first_inside(tap), high = a.end_inside(tap), end = begin + count;
      first = low > begin ? low - begin : 0;
      const std::size_t last = high < end ? high : end;
      n = last > begin + first ? last - begin - first : 0;
    }
  };
  for (std::size_t i = 0; i < s.rows.size; ++i) {
    const part r(s.rows, i, line.row, line.rows);
    if (r.n == 0) continue;
    const std::size_t y = s.rows.padded(line.row + r.first, i) - s.rows.padding;
    for (std::size_t j = 0; j < s.columns.size; ++j) {
      const part c(s.columns, j, line.column, line.columns);
      if (c.n == 0) continue;
      const std::size_t first = r.first + c.first, n = line.planes * r.n * c.n;
      const std::size_t at = y * s.columns.in + s.columns.padded(line.column + c.first, j) - s.columns.padding;
      // Constant distances let compilers load neighbouring elements together.
      if (line.stride == 1)
        f(first, n, at, std::integral_constant<std::uint32_t, 1>{});
      else if (line.stride == 2)
        f(first, n, at, std::integral_constant<std::uint32_t, 2>{});
      else
        f(first, n, at, static_cast<std::uint32_t>(line.stride));
    }
  }
}

}  // namespace devplace::detail
