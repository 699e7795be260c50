// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/computed_type.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>
#include <devplace/ops/detail/limits.hpp>
#include <devplace/ops/detail/plane_rows.hpp>
#include <devplace/ops/for_each.hpp>

// Functors of pooling layers, for op::for_each. On the CPU `range` computes rows at a time; sums of 16-bit elements are
// computed one by one instead, in float.

namespace devplace::detail {

/// Windows over `planes` images of one channel, and the extents of an image's windows.
struct pooling_shape {
  window_axis rows, columns;

  DEVPLACE_HD constexpr std::size_t plane() const { return rows.in * columns.in; }
  DEVPLACE_HD constexpr std::size_t windows() const { return rows.out * columns.out; }
  /// Taps of a window.
  DEVPLACE_HD constexpr std::size_t taps() const { return rows.size * columns.size; }
};

/// Calls f(at) for the elements of the image in window (row, column), in order.
template <class F>
DEVPLACE_HD void for_each_in_window(const pooling_shape& s, std::size_t row, std::size_t column, const F& f) {
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
template <class F>
DEVPLACE_HD void for_each_window_of(const pooling_shape& s, std::size_t at, const F& f) {
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

template <class T>
inline constexpr T lowest_element = static_cast<T>(-infinity<computed_t<T>>);

/// Whether `x` takes the place of `best` as the largest element so far: the first of equal ones stays, and the last NaN
/// wins, as in PyTorch.
template <class T>
DEVPLACE_HD constexpr bool takes_place(T x, T best) {
  return (static_cast<int>(x > best) | static_cast<int>(x != x)) != 0;
}

/// Calls f(first, last, at) for each tap of the windows of a row: those of the windows [first, last) within [begin,
/// end) are in the image, the first at its element `at`, and the others follow at the stride.
template <class F>
void for_each_tap_of_row(const pooling_shape& s, std::size_t row, std::size_t begin, std::size_t end, const F& f) {
  for (std::size_t i = 0; i < s.rows.size; ++i) {
    const std::size_t y = s.rows.padded(row, i);
    if (!s.rows.inside(y)) continue;
    for (std::size_t j = 0; j < s.columns.size; ++j) {
      const std::size_t low = s.columns.first_inside(j), high = s.columns.end_inside(j);
      const std::size_t first = begin > low ? begin : low, last = end < high ? end : high;
      if (first >= last) continue;
      const std::size_t at = (y - s.rows.padding) * s.columns.in + s.columns.padded(first, j) - s.columns.padding;
      f(first, last, at);
    }
  }
}

/// to [planes, rows.out, columns.out] = the largest elements of the windows of x [planes, rows.in, columns.in].
template <class T>
struct max_pool_functor {
  pooling_shape s;
  const T* x;
  T* to;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t window = i % s.windows();
    const T* const image = x + i / s.windows() * s.plane();
    T best = lowest_element<T>;
    for_each_in_window(s, window / s.columns.out, window % s.columns.out, [&](std::size_t at) {
      if (takes_place(image[at], best)) best = image[at];
    });
    to[i] = best;
  }
  void range(std::size_t from, std::size_t until) const {
    for_each_plane_row(s.rows.out, s.columns.out, from, until,
                       [this](std::size_t plane, std::size_t row, std::size_t begin, std::size_t end) {
                         const T* const image = x + plane * s.plane();
                         T* const out = to + plane * s.windows() + row * s.columns.out;
                         for (std::size_t k = begin; k < end; ++k)
                           out[k] = lowest_element<T>;
                         for_each_tap_of_row(s, row, begin, end,
                                             [&](std::size_t first, std::size_t last, std::size_t at) {
                                               for (std::size_t k = first; k < last; ++k, at += s.columns.stride)
                                                 out[k] = takes_place(image[at], out[k]) ? image[at] : out[k];
                                             });
                       });
  }
};

/// dx = the gradient of max_pool's input: that of each window goes to its first largest element.
template <class T>
struct max_pool_gradient_functor {
  pooling_shape s;
  const T* x;
  const T* dy;
  T* dx;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t plane = i / s.plane(), at = i % s.plane();
    const T* const windows = dy + plane * s.windows();
    computed_t<T> sum{0};
    for_each_window_of(s, at, [&](std::size_t row, std::size_t column) {
      if (largest(x + plane * s.plane(), row, column) == at)
        sum += static_cast<computed_t<T>>(windows[row * s.columns.out + column]);
    });
    dx[i] = static_cast<T>(sum);
  }
  /// Of whole planes.
  void range(std::size_t from, std::size_t until) const requires floating_element<T> {
    for (std::size_t i = from; i < until; ++i)
      dx[i] = T{0};
    for_each_plane_row(s.rows.out, s.columns.out, from / s.plane() * s.windows(), until / s.plane() * s.windows(),
                       [this](std::size_t plane, std::size_t row, std::size_t, std::size_t) {
                         for (std::size_t begin = 0; begin < s.columns.out; begin += most)
                           add_row(plane, row, begin, begin + most < s.columns.out ? begin + most : s.columns.out);
                       });
  }

 private:
  static constexpr std::size_t most = 64;  // windows whose largest elements are found together
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// Keeps the larger of best and a tap, and where it is, for each of `count` windows.
  template <class Step>
  static void compare(const T* taps, std::uint32_t origin, std::uint32_t count, Step step, T* __restrict best,
                      std::uint32_t* __restrict found) {
    for (std::uint32_t k = 0; k < count; ++k) {
      const T value = taps[k * step];
      const bool takes = takes_place(value, best[k]) | (found[k] == none);
      best[k] = takes ? value : best[k];
      found[k] = takes ? origin + k * step : found[k];
    }
  }
  void add_row(std::size_t plane, std::size_t row, std::size_t begin, std::size_t end) const {
    const T* const image = x + plane * s.plane();
    T best[most];
    std::uint32_t found[most];
    for (std::size_t k = 0; k < end - begin; ++k)
      best[k] = lowest_element<T>, found[k] = none;
    for_each_tap_of_row(s, row, begin, end, [&](std::size_t first, std::size_t last, std::size_t at) {
      const T* const taps = image + at;
      const auto step = static_cast<std::uint32_t>(s.columns.stride), origin = static_cast<std::uint32_t>(at);
      T* const best_here = best + (first - begin);
      std::uint32_t* const found_here = found + (first - begin);
      const auto count = static_cast<std::uint32_t>(last - first);
      // The constants let compilers read neighbouring elements with one access.
      if (step == 1)
        compare(taps, origin, count, std::integral_constant<std::uint32_t, 1>{}, best_here, found_here);
      else if (step == 2)
        compare(taps, origin, count, std::integral_constant<std::uint32_t, 2>{}, best_here, found_here);
      else
        compare(taps, origin, count, step, best_here, found_here);
    });
    const T* const windows = dy + plane * s.windows() + row * s.columns.out;
    for (std::size_t k = begin; k < end; ++k)
      if (found[k - begin] != none) dx[plane * s.plane() + found[k - begin]] += windows[k];
  }

  DEVPLACE_HD std::size_t largest(const T* image, std::size_t row, std::size_t column) const {
    T best = lowest_element<T>;
    std::size_t found = s.plane();
    for_each_in_window(s, row, column, [&](std::size_t at) {
      const bool takes = takes_place(image[at], best) || found == s.plane();
      best = takes ? image[at] : best;
      found = takes ? at : found;
    });
    return found;
  }
};

/// to = the means of the windows of x, in which padding counts as zeros.
template <class T>
struct average_pool_functor {
  pooling_shape s;
  const T* x;
  T* to;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t window = i % s.windows();
    const T* const image = x + i / s.windows() * s.plane();
    computed_t<T> sum{0};
    for_each_in_window(s, window / s.columns.out, window % s.columns.out,
                       [&](std::size_t at) { sum += static_cast<computed_t<T>>(image[at]); });
    to[i] = static_cast<T>(sum / static_cast<computed_t<T>>(s.taps()));
  }
  void range(std::size_t from, std::size_t until) const requires floating_element<T> {
    for_each_plane_row(s.rows.out, s.columns.out, from, until,
                       [this](std::size_t plane, std::size_t row, std::size_t begin, std::size_t end) {
                         const T* const image = x + plane * s.plane();
                         T* const out = to + plane * s.windows() + row * s.columns.out;
                         for (std::size_t k = begin; k < end; ++k)
                           out[k] = T{0};
                         for_each_tap_of_row(s, row, begin, end,
                                             [&](std::size_t first, std::size_t last, std::size_t at) {
                                               for (std::size_t k = first; k < last; ++k, at += s.columns.stride)
                                                 out[k] += image[at];
                                             });
                         for (std::size_t k = begin; k < end; ++k)
                           out[k] /= static_cast<T>(s.taps());
                       });
  }
};

/// dx = the gradient of average_pool's input.
template <class T>
struct average_pool_gradient_functor {
  pooling_shape s;
  const T* dy;
  T* dx;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const T* const windows = dy + i / s.plane() * s.windows();
    computed_t<T> sum{0};
    for_each_window_of(s, i % s.plane(), [&](std::size_t row, std::size_t column) {
      sum += static_cast<computed_t<T>>(windows[row * s.columns.out + column]) / static_cast<computed_t<T>>(s.taps());
    });
    dx[i] = static_cast<T>(sum);
  }
  /// Of whole planes.
  void range(std::size_t from, std::size_t until) const requires floating_element<T> {
    for (std::size_t i = from; i < until; ++i)
      dx[i] = T{0};
    for (std::size_t plane = from / s.plane(); plane * s.plane() < until; ++plane)
      for (std::size_t row = 0; row < s.rows.out; ++row) {
        const T* const windows = dy + plane * s.windows() + row * s.columns.out;
        T* const image = dx + plane * s.plane();
        for_each_tap_of_row(s, row, 0, s.columns.out, [&](std::size_t first, std::size_t last, std::size_t at) {
          for (std::size_t k = first; k < last; ++k, at += s.columns.stride)
            image[at] += windows[k] / static_cast<T>(s.taps());
        });
      }
  }
};

/// Runs a functor for all of `planes` planes of `plane` elements, whole planes on each thread of the CPU.
template <class Backend, class F>
void for_each_in_planes(int ordinal, std::size_t planes, std::size_t plane, const F& f) {
  constexpr std::size_t worth_a_thread = 16384;
  for_each_index<Backend>(ordinal, planes * plane, (worth_a_thread / plane + 1) * plane, f);
}

}  // namespace devplace::detail

#include DEVPLACE_CUDA_KERNELS(pooling)
