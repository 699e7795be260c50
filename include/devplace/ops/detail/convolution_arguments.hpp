// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <compare>
#include <cstddef>

#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/product_arguments.hpp>

namespace devplace::detail {

/// A window of `size` taps that slides over an axis of `in` elements, with `padding` zeros on both sides, to `out`
/// positions.
struct window_axis {
  std::size_t in, out, size, stride, padding, dilation;

  friend auto operator<=>(const window_axis&, const window_axis&) = default;

  /// Position of tap `t` of window `o` in the input, plus `padding`.
  DEVPLACE_HD constexpr std::size_t padded(std::size_t o, std::size_t t) const { return o * stride + t * dilation; }
  /// Whether a position from padded() is in the input, not in the padding.
  DEVPLACE_HD constexpr bool inside(std::size_t at) const { return at >= padding && at - padding < in; }
  /// The windows [first_inside, end_inside) whose tap `t` is not in the padding.
  constexpr std::size_t first_inside(std::size_t t) const {
    const std::size_t at = t * dilation;
    if (at >= padding) return 0;
    const std::size_t first = stride == 1 ? padding - at : divided_up(padding - at, stride);
    return first < out ? first : out;
  }
  constexpr std::size_t end_inside(std::size_t t) const {
    const std::size_t at = t * dilation;
    if ((out - 1) * stride + at < in + padding) return out;
    if (at >= in + padding) return 0;
    return stride == 1 ? in + padding - at : (in + padding - at - 1) / stride + 1;
  }

  /// Whether the input's gradient is also a convolution, with the taps in reverse order.
  constexpr bool has_mirror() const { return stride == 1 && padding <= (size - 1) * dilation; }
  constexpr window_axis mirror() const { return {out, in, size, 1, (size - 1) * dilation - padding, dilation}; }
};

/// The extents of a two-dimensional convolution, all contiguous: x [samples, groups * channels, rows.in, columns.in],
/// weight [groups * outputs, channels, rows.size, columns.size] and y [samples, groups * outputs, rows.out,
/// columns.out].
///
/// If the patch of each output position is a column of `depth()` elements, each group of a sample is a matrix product,
/// y [outputs, pixels] = weight [outputs, depth] patches [depth, pixels]. No backend stores all patches.
struct convolution_shape {
  std::size_t samples, groups, channels, outputs;
  window_axis rows, columns;
  /// Whether the last two axes of the weight are exchanged, [columns.size, rows.size]; only within the CPU's backend.
  bool columns_first = false;

  friend auto operator<=>(const convolution_shape&, const convolution_shape&) = default;

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

// Products of 16-bit elements are exact. Sums of products are float and rounded once; gradients of parameters stay
// float. cuDNN also rounds gradients of parameters, and rounds sums before it adds a bias.

/// Float workspace of a convolution of 16-bit elements, unused for other types.
template <class T> struct convolution_floats {
  computed_t<T>* parameters = nullptr;  ///< weights() + groups * outputs (or channels) elements
  computed_t<T>* sums = nullptr;  ///< for each sample convolution_sums(shape), or convolution_gradient_sums(shape)
};

/// y = epilogue(convolution of x with weight + bias), bias [groups * outputs] or null. `Weight` differs from T only
/// within backends.
template <class T, class Weight = T> struct convolution_arguments {
  convolution_shape shape;
  const T* x;
  const Weight* weight;
  const Weight* bias;
  T* y;
  detail::epilogue epilogue = detail::epilogue::none;
  product_math math = product_math::strict;
  convolution_floats<T> floats = {};
};

/// dx = the convolution's input gradient + bias, bias [groups * channels] or null. With a bias, this is a transposed
/// convolution.
template <class T, class Weight = T> struct convolution_input_gradient_arguments {
  convolution_shape shape;
  const T* dy;
  const Weight* weight;
  const Weight* bias;
  T* dx;
  product_math math = product_math::strict;
  convolution_floats<T> floats = {};
};

/// dweight = the convolution's weight gradient, summed over the samples, + beta dweight. `scratch` has
/// convolution_scratch(shape) elements for each sample.
template <class T> struct convolution_weight_gradient_arguments {
  convolution_shape shape;
  const T* dy;
  const T* x;
  computed_t<T>* dweight;
  computed_t<T> beta;
  computed_t<T>* scratch;
  product_math math = product_math::strict;
};

/// sums [channels] = the sums of x [samples, channels, plane] over samples and planes, + beta sums.
template <class T> struct convolution_bias_gradient_arguments {
  std::size_t samples, channels, plane;
  const T* x;
  computed_t<T>* sums;
  computed_t<T> beta;
};

/// Number of consecutive samples whose weight gradients are summed in one matrix; the matrices are then added in order.
/// The matrices need at most a quarter of the outputs' memory. The number depends only on the shape of a sample, so the
/// sum's bits depend neither on the number of threads nor on the batch's capacity.
constexpr std::size_t convolution_chunk(const convolution_shape& s) {
  const std::size_t affordable = s.groups * s.outputs * s.pixels() / 4;
  std::size_t samples = 1;
  while (s.weights() > affordable * samples && samples < 1024) samples *= 2;
  return samples;
}

/// Maximum number of products of a patch that are summed at a time: of 16-bit elements, and of all direct convolutions
/// on the CPU.
inline constexpr std::size_t convolution_depth = 576;

/// Number of sums per sample that a convolution of 16-bit elements, or its input gradient, keeps in float before
/// rounding: all if a patch exceeds convolution_depth or, for the gradient, if patches overlap; otherwise none.
constexpr std::size_t convolution_sums(const convolution_shape& s) {
  return s.depth() > convolution_depth ? s.groups * s.outputs * s.pixels() : 0;
}
constexpr std::size_t convolution_gradient_sums(const convolution_shape& s) {
  const bool overlap = !s.rows.has_mirror() || !s.columns.has_mirror();
  return overlap || s.outputs * s.taps() > convolution_depth ? s.groups * s.channels * s.plane() : 0;
}

/// Workspace of a weight gradient, in elements per sample.
constexpr std::size_t convolution_scratch(const convolution_shape& s) {
  return divided_up(s.weights(), convolution_chunk(s));
}

}  // namespace devplace::detail
