// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/detail/product_arguments.hpp>

namespace devplace::detail {

/// A window of `size` taps that slides over an axis of `in` elements, with `padding` zeros on both sides, to `out`
/// positions.
struct window_axis {
  std::size_t in, out, size, stride, padding, dilation;

  /// The position in the input, offset by `padding`, of tap `t` of window `o`.
  DEVPLACE_HD constexpr std::size_t padded(std::size_t o, std::size_t t) const { return o * stride + t * dilation; }
  /// Whether it is not in the padding.
  DEVPLACE_HD constexpr bool inside(std::size_t at) const { return at >= padding && at - padding < in; }
  /// The windows [first_inside, end_inside) whose tap `t` is not in the padding.
  ///@{
  constexpr std::size_t first_inside(std::size_t t) const {
    const std::size_t at = t * dilation;
    if (at >= padding) return 0;
    const std::size_t first = stride == 1 ? padding - at : (padding - at + stride - 1) / stride;
    return first < out ? first : out;
  }
  constexpr std::size_t end_inside(std::size_t t) const {
    const std::size_t at = t * dilation;
    if ((out - 1) * stride + at < in + padding) return out;
    if (at >= in + padding) return 0;
    return stride == 1 ? in + padding - at : (in + padding - at - 1) / stride + 1;
  }
  ///@}

  /// Whether the way back, from the windows to the input, is a convolution, too: with the taps in reverse order.
  constexpr bool has_mirror() const { return stride == 1 && padding <= (size - 1) * dilation; }
  constexpr window_axis mirror() const { return {out, in, size, 1, (size - 1) * dilation - padding, dilation}; }
};

/// The extents of a two-dimensional convolution, all contiguous: x [samples, groups * channels, rows.in, columns.in],
/// weight [groups * outputs, channels, rows.size, columns.size] and y [samples, groups * outputs, rows.out,
/// columns.out].
///
/// With the patch of an output's position as a column of `depth()` elements, a group of a sample is a matrix product,
/// y [outputs, pixels] = weight [outputs, depth] patches [depth, pixels]. No backend stores all patches.
struct convolution_shape {
  std::size_t samples, groups, channels, outputs;
  window_axis rows, columns;
  /// Whether the last two axes of the weight are exchanged, [columns.size, rows.size]; only within the CPU's backend.
  bool columns_first = false;

  /// The row and the column of tap `t` of the weight.
  ///@{
  constexpr std::size_t row_of(std::size_t t) const { return columns_first ? t % rows.size : t / columns.size; }
  constexpr std::size_t column_of(std::size_t t) const { return columns_first ? t / rows.size : t % columns.size; }
  ///@}
  DEVPLACE_HD constexpr std::size_t taps() const { return rows.size * columns.size; }
  DEVPLACE_HD constexpr std::size_t depth() const { return channels * taps(); }
  DEVPLACE_HD constexpr std::size_t pixels() const { return rows.out * columns.out; }
  DEVPLACE_HD constexpr std::size_t plane() const { return rows.in * columns.in; }
  DEVPLACE_HD constexpr std::size_t weights() const { return groups * outputs * depth(); }
};

// Numbers of 16 bits are multiplied exactly, summed in float and rounded once, the gradients of parameters not at all.
// cuDNN rounds these, too, and what a bias is added to.

/// Memory in float of a convolution of numbers of 16 bits, unused otherwise.
template <class T>
struct convolution_floats {
  computed_t<T>* parameters = nullptr;  ///< weights() + groups * outputs (or channels) elements
  computed_t<T>* sums = nullptr;  ///< for each sample convolution_sums(shape), or convolution_gradient_sums(shape)
};

/// y = then(convolution of x with weight + bias), bias [groups * outputs] or null. `Weight` is T but within backends.
template <class T, class Weight = T>
struct convolution_arguments {
  convolution_shape shape;
  const T* x;
  const Weight* weight;
  const Weight* bias;
  T* y;
  epilogue then = epilogue::none;
  product_math math = product_math::strict;
  convolution_floats<T> floats = {};
};

/// dx = the convolution's gradient by its input + bias, bias [groups * channels] or null. With a bias it is what a
/// transposed convolution computes.
template <class T, class Weight = T>
struct convolution_input_gradient_arguments {
  convolution_shape shape;
  const T* dy;
  const Weight* weight;
  const Weight* bias;
  T* dx;
  product_math math = product_math::strict;
  convolution_floats<T> floats = {};
};

/// dweight = the convolution's gradient by its weight, summed over the samples, + beta dweight. `scratch` has
/// convolution_scratch(shape) elements for each sample.
template <class T>
struct convolution_weight_gradient_arguments {
  convolution_shape shape;
  const T* dy;
  const T* x;
  computed_t<T>* dweight;
  computed_t<T> beta;
  computed_t<T>* scratch;
  product_math math = product_math::strict;
};

/// sums [channels] = the sums of x [samples, channels, plane] over samples and planes, + beta sums.
template <class T>
struct convolution_bias_gradient_arguments {
  std::size_t samples, channels, plane;
  const T* x;
  computed_t<T>* sums;
  computed_t<T> beta;
};

/// How many consecutive samples' weight gradients are summed in one matrix before these are added, each in its order:
/// so many that the matrices need at most a quarter of the memory of the outputs. It depends on the shape of a sample
/// alone, so that the bits of the sum depend neither on the number of threads nor on the batch's capacity.
constexpr std::size_t convolution_chunk(const convolution_shape& s) {
  const std::size_t affordable = s.groups * s.outputs * s.pixels() / 4;
  std::size_t samples = 1;
  while (s.weights() > affordable * samples && samples < 1024)
    samples *= 2;
  return samples;
}

/// The most elements of a patch whose products with numbers of 16 bits are summed at a time.
inline constexpr std::size_t convolution_depth = 576;

/// Sums per sample of a convolution of numbers of 16 bits, or of its gradient by the input, that are kept in float
/// before they are rounded: all, where patches are larger or, of the gradient, overlap in an image, otherwise none.
///@{
constexpr std::size_t convolution_sums(const convolution_shape& s) {
  return s.depth() > convolution_depth ? s.groups * s.outputs * s.pixels() : 0;
}
constexpr std::size_t convolution_gradient_sums(const convolution_shape& s) {
  const bool overlap = !s.rows.has_mirror() || !s.columns.has_mirror();
  return overlap || s.outputs * s.taps() > convolution_depth ? s.groups * s.channels * s.plane() : 0;
}
///@}

/// Elements per sample that a weight gradient needs temporarily.
constexpr std::size_t convolution_scratch(const convolution_shape& s) {
  return (s.weights() + convolution_chunk(s) - 1) / convolution_chunk(s);
}

}  // namespace devplace::detail
