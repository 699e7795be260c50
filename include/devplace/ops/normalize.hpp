// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/row_loops.hpp>
#include <devplace/ops/for_each.hpp>

DEVPLACE_UNFUSED_BEGIN
namespace devplace::detail {

// Row functors of normalisations: if Centred, y = w (x - mean) / sqrt(variance + epsilon) + b, layer normalisation (Ba,
// Kiros and Hinton 2016); otherwise y = w x / sqrt(mean of x^2 + epsilon) (Zhang and Sennrich 2019).

/// Maps an element of a row to its normalised value: (x - shift - rest) * scale. The mean is shift + rest, two numbers,
/// so that a large mean is not rounded.
template <class T, bool Centred> struct row_scale {
  T shift, rest, scale;

  DEVPLACE_HD row_scale(T shifted_by, double rest_of_mean, double variance, double epsilon)
      : shift(shifted_by),
        rest(static_cast<T>(rest_of_mean)),
        scale(static_cast<T>(1 / std::sqrt((variance < 0 ? 0 : variance) + epsilon))) {}
  DEVPLACE_HD T operator()(T x) const { return Centred ? ((x - shift) - rest) * scale : x * scale; }
};

/// Computes a row's statistics in one pass over differences from the first element, which is at most sqrt(n - 1)
/// standard deviations from the mean. Sums of float elements in double therefore lose no digit. For double, a first
/// pass computes the mean.
template <class T, bool Centred, class Element>
DEVPLACE_HD row_scale<T, Centred> scale_of_row(const Element* x, std::size_t n, double epsilon) {
  const double count = static_cast<double>(n);
  double origin = 0;
  if constexpr (Centred) {
    origin = static_cast<double>(static_cast<T>(x[0]));
    if constexpr (std::is_same_v<T, double>) origin += moments_of_row<T>(x, n, origin).sum / count;
  }
  const row_moments about = moments_of_row<T>(x, n, origin);
  const double distance = Centred ? about.sum / count : 0, mean = origin + distance;
  const T shift = static_cast<T>(mean);
  return {shift, mean - static_cast<double>(shift), about.squares / count - distance * distance, epsilon};
}

/// Normalises a row. `Element` is the type of x and y: T or, if T is float, a 16-bit type.
template <class T, bool Centred, class Element = T> struct normalize_row {
  static constexpr bool computes_much = true;

  Element* y;
  const Element* x;
  const T* weight;
  const T* bias;  // only if Centred
  std::size_t n;
  double epsilon;

  DEVPLACE_HD void operator()(std::size_t row) const {
    Element* const out = y + row * n;
    const Element* const in = x + row * n;
    const auto normalized = scale_of_row<T, Centred>(in, n, epsilon);
    const T* const w = weight;
    [[maybe_unused]] const T* const b = bias;
    independent_loop(0, n, [=](std::size_t c) {
      const T product = normalized(static_cast<T>(in[c])) * w[c];
      if constexpr (Centred)
        out[c] = static_cast<Element>(product + b[c]);
      else
        out[c] = static_cast<Element>(product);
    });
  }
};

/// terms = dy h, where h is the normalised x; the column sums of terms are the weight's gradient. Unless dx is null, dx
/// = scale (g - mean(g) - h mean(g h)), where g = w dy; if not Centred, without mean(g).
template <class T, bool Centred, class Element = T> struct normalize_backward_row {
  static constexpr bool computes_much = true;

  Element* dx;
  T* terms;
  const Element* x;
  const Element* dy;
  const T* weight;
  std::size_t n;
  double epsilon;

  DEVPLACE_HD void operator()(std::size_t row) const {
    const Element* const in = x + row * n;
    const Element* const gradient = dy + row * n;
    T* const products = terms + row * n;
    const auto normalized = scale_of_row<T, Centred>(in, n, epsilon);
    independent_loop(
        0, n, [=](std::size_t c) { products[c] = static_cast<T>(gradient[c]) * normalized(static_cast<T>(in[c])); });
    if (dx == nullptr) return;
    const T* const w = weight;
    const double count = static_cast<double>(n);
    T mean = 0;
    if constexpr (Centred)
      mean = static_cast<T>(row_sum<T>(n, [w, gradient](std::size_t c) { return w[c] * static_cast<T>(gradient[c]); }) /
                            count);
    const T slope = static_cast<T>(row_sum<T>(n, [w, products](std::size_t c) { return w[c] * products[c]; }) / count);
    Element* const out = dx + row * n;
    independent_loop(0, n, [=](std::size_t c) {
      out[c] = static_cast<Element>(
          normalized.scale * ((w[c] * static_cast<T>(gradient[c]) - mean) - normalized(static_cast<T>(in[c])) * slope));
    });
  }
};

}  // namespace devplace::detail
DEVPLACE_UNFUSED_END

#include DEVPLACE_BACKENDS(normalize)
