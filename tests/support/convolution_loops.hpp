// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include <devplace/ops/detail/convolution_arguments.hpp>
#include <devplace/tensor/dtype.hpp>

#include "support/sanitizers.hpp"

namespace devplace::test {

/// Calls f(y, x, weight) with the indices of each product of a convolution.
template <class F> void for_each_product(const detail::convolution_shape& s, const F& f) {
  const std::size_t pixels = s.pixels(), plane = s.plane(), depth = s.depth();
  const auto inside = [](std::size_t at, const detail::window_axis& axis) {
    return at >= axis.padding && at - axis.padding < axis.in;
  };
  for (std::size_t n = 0; n < s.samples; ++n)
    for (std::size_t g = 0; g < s.groups; ++g)
      for (std::size_t o = 0; o < s.outputs; ++o)
        for (std::size_t p = 0; p < pixels; ++p) {
          const std::size_t y = ((n * s.groups + g) * s.outputs + o) * pixels + p;
          std::size_t weight = (g * s.outputs + o) * depth;
          for (std::size_t c = 0; c < s.channels; ++c)
            for (std::size_t i = 0; i < s.rows.size; ++i, weight += s.columns.size) {
              const std::size_t row = p / s.columns.out * s.rows.stride + i * s.rows.dilation;
              if (!inside(row, s.rows)) continue;
              const std::size_t line =
                  ((n * s.groups + g) * s.channels + c) * plane + (row - s.rows.padding) * s.columns.in;
              for (std::size_t j = 0; j < s.columns.size; ++j) {
                const std::size_t column = p % s.columns.out * s.columns.stride + j * s.columns.dilation;
                if (inside(column, s.columns)) f(y, line + column - s.columns.padding, weight + j);
              }
            }
        }
}

/// Returns an axis of `in` elements with as many windows as fit.
constexpr detail::window_axis axis_of(std::size_t in, std::size_t size, std::size_t stride, std::size_t padding,
                                      std::size_t dilation) {
  return {in, (in + 2 * padding - (size - 1) * dilation - 1) / stride + 1, size, stride, padding, dilation};
}

/// Returns shapes of convolutions with all options: each larger than a register tile in some extents and smaller in
/// others.
inline std::vector<detail::convolution_shape> convolution_shapes() {
  constexpr auto axis = axis_of;
  return {
      {1, 1, 1, 1, axis(1, 1, 1, 0, 1), axis(1, 1, 1, 0, 1)},
      {2, 1, 1, 1, axis(1, 1, 1, 1, 1), axis(2, 1, 1, 1, 1)},
      {3, 1, 1, 5, axis(28, 3, 1, 1, 1), axis(28, 3, 1, 1, 1)},
      {7, 1, 16, 9, axis(7, 3, 1, 1, 1), axis(7, 3, 1, 1, 1)},
      {2, 1, 30, 17, axis(9, 3, 1, 0, 1), axis(11, 3, 1, 0, 1)},
      {2, 1, 3, 140, axis(6, 3, 1, 1, 1), axis(5, 3, 1, 1, 1)},
      {1, 1, 40, 2, axis(19, 5, 1, 2, 1), axis(21, 5, 1, 2, 1)},
      {2, 1, 2, 3, axis(22, 17, 1, 3, 1), axis(24, 18, 1, 0, 1)},
      {2, 1, 5, 4, axis(15, 3, 2, 1, 1), axis(14, 2, 3, 0, 1)},
      {2, 1, 3, 4, axis(15, 3, 1, 2, 2), axis(14, 4, 2, 5, 3)},
      {2, 3, 2, 5, axis(10, 3, 1, 1, 1), axis(9, 3, 1, 1, 1)},
      {3, 8, 1, 1, axis(12, 3, 1, 1, 1), axis(12, 3, 2, 1, 1)},
      {2, 2, 33, 3, axis(8, 1, 1, 0, 1), axis(8, 1, 1, 0, 1)},
      {4, 1, 3, 260, axis(4, 1, 1, 0, 1), axis(5, 2, 1, 1, 1)},
      {2, 1, 4, 3, axis(1, 1, 1, 0, 1), axis(300, 7, 2, 3, 1)},
      {2, 1, 1, 2, axis(3, 2, 3, 4, 1), axis(3, 1, 4, 6, 1)},
      {33, 1, 2, 3, axis(3, 2, 1, 0, 1), axis(4, 2, 1, 1, 1)},
      {3, 2, 9, 40, axis(9, 3, 2, 1, 1), axis(14, 3, 2, 1, 1)},
      {2, 1, 3, 16, axis(15, 3, 1, 2, 2), axis(14, 4, 2, 5, 3)},
      {2, 1, 1, 16, axis(3, 2, 3, 4, 1), axis(3, 1, 4, 6, 1)},
      {2, 1, 20, 24, axis(6, 1, 1, 0, 1), axis(7, 1, 1, 0, 1)},
      {2, 1, 1, 16, axis(4, 3, 1, 1, 1), axis(10, 3, 1, 1, 1)},
      {2, 1, 8, 20, axis(1, 1, 1, 0, 1), axis(10, 1, 1, 0, 1)},
      {2, 1, 4, 20, axis(1, 1, 1, 0, 1), axis(4, 1, 1, 0, 1)},
      {2, 1, 8, 8, axis(1, 1, 1, 0, 1), axis(4, 1, 1, 0, 1)},
      {2, 1, 8, 16, axis(1, 1, 1, 0, 1), axis(8, 1, 1, 0, 1)},
      {1, 1, 8, 9, axis(40, 3, 1, 1, 1), axis(300, 1, 1, 0, 1)},  // more than one segment of a sample
      {2, 1, 130, 16, axis(4, 3, 1, 1, 1), axis(5, 3, 1, 1, 1)},  // more than one block of channels
      {2, 1, 6, 8, axis(60, 5, 1, 2, 1), axis(2, 1, 1, 0, 1)},    // short rows that are copied together
      {2, 1, 6, 8, axis(60, 3, 2, 1, 1), axis(3, 1, 1, 0, 1)},
  };
}

/// Returns such shapes whose groups have few channels.
inline std::vector<detail::convolution_shape> depthwise_shapes() {
  constexpr auto axis = axis_of;
  std::vector<detail::convolution_shape> shapes{
      {3, 5, 1, 1, axis(28, 3, 1, 1, 1), axis(28, 3, 1, 1, 1)},
      {2, 3, 1, 1, axis(1, 1, 1, 0, 1), axis(1, 1, 1, 0, 1)},
      {2, 3, 1, 1, axis(1, 3, 1, 1, 1), axis(1, 3, 1, 1, 1)},
      {2, 3, 1, 1, axis(9, 1, 1, 0, 1), axis(7, 1, 1, 0, 1)},
      {1, 2, 1, 1, axis(70, 1, 1, 0, 1), axis(60, 1, 1, 0, 1)},  // cannot become one row
      {1, 2, 1, 2, axis(9, 1, 2, 0, 1), axis(10, 1, 3, 0, 1)},   // reads few of the pixels
      {2, 2, 1, 1, axis(11, 2, 3, 0, 1), axis(13, 2, 4, 1, 1)},  // fewer taps than the stride
      {2, 2, 1, 1, axis(12, 3, 4, 0, 1), axis(12, 3, 5, 0, 1)},  // rows and columns at the end are not read
      {2, 3, 1, 2, axis(6, 1, 1, 3, 1), axis(5, 1, 1, 2, 1)},    // the padding is wider than the kernel
      {2, 3, 1, 2, axis(6, 3, 2, 5, 1), axis(5, 2, 3, 7, 1)},
      {2, 3, 1, 1, axis(9, 3, 2, 2, 2), axis(10, 3, 2, 2, 2)},  // phases without taps
      {2, 3, 1, 2, axis(13, 3, 2, 3, 3), axis(11, 3, 3, 2, 2)},
      {1, 2, 1, 2, axis(17, 16, 1, 5, 1), axis(18, 16, 1, 7, 1)},  // the most taps
      {1, 2, 1, 1, axis(300, 3, 1, 1, 1), axis(301, 3, 1, 1, 1)},  // several segments of rows
      {1, 2, 1, 1, axis(301, 3, 2, 1, 1), axis(300, 3, 2, 1, 1)},
      {1, 1, 1, 1, axis(4, 3, 1, 1, 1), axis(30000, 5, 1, 2, 1)},
      {2, 2, 1, 1, axis(1, 1, 1, 0, 1), axis(400000, 3, 1, 1, 1)},  // rows that are too long to be copied
      {2, 3, 1, 1, axis(40, 5, 1, 2, 1), axis(2, 1, 1, 0, 1)},      // short rows that are copied together
      {2, 3, 1, 2, axis(40, 5, 1, 7, 2), axis(3, 1, 1, 0, 1)},
      {1, 2, 1, 1, axis(5000, 5, 1, 2, 1), axis(4, 1, 1, 0, 1)},
      {2, 3, 1, 1, axis(40, 3, 1, 1, 1), axis(5, 3, 1, 0, 1)},
      {2, 3, 4, 4, axis(8, 3, 1, 1, 1), axis(9, 3, 2, 1, 1)},
      {70, 2, 2, 3, axis(5, 3, 2, 1, 1), axis(4, 2, 1, 1, 1)},
  };
  for (std::size_t outputs = 1; outputs <= 3; ++outputs)
    for (std::size_t stride = 1; stride <= 3; ++stride)
      for (std::size_t size = 1; size <= 7; size += 2)
        for (std::size_t dilation = 1; dilation <= 2; ++dilation) {
          shapes.push_back({2, 2, 1, outputs, axis(15, size, stride, size / 2, dilation),
                            axis(13 + size, size, stride, size / 2, dilation)});
          shapes.push_back({2, 2, 1, outputs, axis(1, 1, 1, 0, 1), axis(33, size, stride, size - 1, dilation)});
        }
  return shapes;
}

/// Returns shapes with images of one column, and shapes that nearly have one.
inline std::vector<detail::convolution_shape> one_column_shapes() {
  constexpr auto axis = axis_of;
  std::vector<detail::convolution_shape> shapes{
      {2, 1, 3, 16, axis(40, 5, 1, 2, 1), axis(1, 1, 1, 0, 1)},
      {2, 1, 3, 5, axis(40, 3, 2, 1, 1), axis(1, 3, 1, 1, 1)},  // only the kernel's middle column reads the image
      {2, 1, 4, 17, axis(41, 3, 2, 4, 3), axis(1, 3, 2, 2, 2)},
      {2, 1, 4, 3, axis(41, 2, 1, 0, 1), axis(1, 2, 3, 1, 2)},  // the kernel's columns read only padding
      {2, 3, 2, 5, axis(30, 3, 1, 1, 1), axis(1, 3, 1, 1, 1)},
      {1, 1, 130, 16, axis(300, 3, 1, 1, 1), axis(1, 3, 1, 1, 1)},
      {1, 2, 1, 1, axis(5000, 1, 1, 0, 1), axis(1, 1, 1, 0, 1)},
      {2, 1, 2, 3, axis(1, 1, 1, 2, 1), axis(1, 1, 1, 0, 1)},    // one row, too, but only in the input
      {2, 1, 3, 4, axis(1, 3, 1, 1, 1), axis(1, 3, 1, 1, 1)},    // one row, too
      {2, 1, 3, 16, axis(20, 3, 1, 1, 1), axis(1, 1, 1, 1, 1)},  // three columns of outputs
      {2, 2, 1, 1, axis(20, 3, 1, 1, 1), axis(1, 2, 1, 1, 1)},   // two columns of outputs
      {2, 1, 3, 16, axis(20, 3, 1, 1, 1), axis(3, 3, 1, 0, 1)},  // three columns of the input
      {2, 2, 1, 2, axis(20, 3, 1, 1, 1), axis(2, 1, 2, 0, 1)},   // two columns of the input
  };
  for (std::size_t outputs = 1; outputs <= 3; ++outputs)
    for (std::size_t stride = 1; stride <= 3; ++stride)
      for (std::size_t dilation = 1; dilation <= 2; ++dilation)
        for (const auto& columns : {axis(1, 1, 1, 0, 1), axis(1, 3, 1, 1, 1), axis(1, 3, 2, 2, 2)})
          shapes.push_back({2, 2, 1, outputs, axis(33, 5, stride, 2, dilation), columns});
  return shapes;
}

/// Returns the shapes that elements T are tested with: all, or with sanitizers, which make these loops slow, every
/// second shape. Float and double then share the shapes, and so do bf16 and half.
template <class T>
std::vector<detail::convolution_shape> shapes_for(const std::vector<detail::convolution_shape>& all) {
  if (!support::sanitized) return all;
  std::vector<detail::convolution_shape> shapes;
  for (std::size_t i = std::is_same_v<T, double> || std::is_same_v<T, half>; i < all.size(); i += 2)
    shapes.push_back(all[i]);
  return shapes;
}

}  // namespace devplace::test
