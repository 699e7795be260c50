// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/detail/channel_sums.hpp>
#include <devplace/ops/normalize.hpp>

DEVPLACE_UNFUSED_BEGIN
namespace devplace::detail {

// Row functors of group normalisation (Wu and He 2018). A row holds the elements of one group of one sample: `members`
// channels of `extent` positions each. It is normalised as in layer normalisation, but weight and bias are per channel.

/// The groups of a sample, and the channels of a row.
struct group_shape {
  std::size_t groups, members, extent;

  DEVPLACE_HD constexpr std::size_t row() const { return members * extent; }
  DEVPLACE_HD constexpr std::size_t first_channel(std::size_t row) const { return row % groups * members; }
};

/// Normalises a row. `Element` is the type of x and y: T or, if T is float, a 16-bit type.
template <class T, class Element = T> struct normalize_group {
  static constexpr bool computes_much = true;

  group_shape shape;
  Element* y;
  const Element* x;
  const T* weight;
  const T* bias;
  double epsilon;

  DEVPLACE_HD void operator()(std::size_t row) const {
    const std::size_t n = shape.row(), first = shape.first_channel(row);
    const Element* in = x + row * n;
    Element* out = y + row * n;
    const auto normalized = scale_of_row<T, true>(in, n, epsilon);
    for (std::size_t c = first; c < first + shape.members; ++c, in += shape.extent, out += shape.extent) {
      const T w = weight[c], b = bias[c];
      independent_loop(0, shape.extent, [=](std::size_t i) {
        out[i] = static_cast<Element>(normalized(static_cast<T>(in[i])) * w + b);
      });
    }
  }
};

/// terms = dy h, where h is the normalised x; the sum of terms over a channel is the weight's gradient. Unless dx is
/// null, dx = scale (g - mean(g) - h mean(g h)), where g = w dy.
template <class T, class Element = T> struct normalize_backward_group {
  static constexpr bool computes_much = true;

  group_shape shape;
  Element* dx;
  T* terms;
  const Element* x;
  const Element* dy;
  const T* weight;
  double epsilon;

  DEVPLACE_HD void operator()(std::size_t row) const {
    const std::size_t n = shape.row(), first = shape.first_channel(row), extent = shape.extent;
    const Element* const in = x + row * n;
    const Element* const gradient = dy + row * n;
    T* const products = terms + row * n;
    const auto normalized = scale_of_row<T, true>(in, n, epsilon);
    double mean = 0, slope = 0;
    for (std::size_t c = 0; c < shape.members; ++c) {
      const Element* const g = gradient + c * extent;
      T* const of_channel = products + c * extent;
      const Element* const of_x = in + c * extent;
      independent_loop(0, extent, [=](std::size_t i) {
        of_channel[i] = static_cast<T>(g[i]) * normalized(static_cast<T>(of_x[i]));
      });
      const double w = static_cast<double>(weight[first + c]);
      mean += w * moments_of_row<T>(g, extent, 0).sum;
      slope += w * moments_of_row<T>(of_channel, extent, 0).sum;
    }
    if (dx == nullptr) return;
    const T shift = static_cast<T>(mean / static_cast<double>(n)),
            rise = static_cast<T>(slope / static_cast<double>(n));
    Element* const out = dx + row * n;
    for (std::size_t c = 0; c < shape.members; ++c) {
      const T w = weight[first + c];
      independent_loop(c * extent, (c + 1) * extent, [=](std::size_t i) {
        out[i] = static_cast<Element>(
            normalized.scale * ((w * static_cast<T>(gradient[i]) - shift) - normalized(static_cast<T>(in[i])) * rise));
      });
    }
  }
};

/// The sums of terms and of dy over each channel, for channel_sums: the gradients of weight and bias.
template <class T, class G, class Element = T> struct group_norm_gradient_terms {
  using value_type = double;
  const T* terms;
  const Element* dy;
  G* weight_gradient;
  G* bias_gradient;
  bool accumulate;

  struct summand {
    const T* terms;
    const Element* dy;
    DEVPLACE_HD two_inputs<T, Element> inputs() const { return {terms, dy}; }
    DEVPLACE_HD pair_of<double> from_inputs(T term, Element gradient) const {
      return {static_cast<double>(term), static_cast<double>(static_cast<T>(gradient))};
    }
    DEVPLACE_HD pair_of<double> operator()(std::size_t i) const { return from_inputs(terms[i], dy[i]); }
  };
  DEVPLACE_HD summand of_channel(std::size_t) const { return {terms, dy}; }
  DEVPLACE_HD static constexpr double neutral() { return 0; }
  DEVPLACE_HD static constexpr void combine(double& a, double b) { a += b; }
  DEVPLACE_HD void store(std::size_t c, const pair_of<double>& sums) const {
    store_sum(weight_gradient[c], sums.first, accumulate);
    store_sum(bias_gradient[c], sums.second, accumulate);
  }
};

}  // namespace devplace::detail
DEVPLACE_UNFUSED_END

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Runs one of the row functors above for every group of `samples` samples. `Elements`, unless dyn, is the number of
/// elements of a group.
template <class Backend, std::size_t Elements = dyn, class Row>
void for_each_group(int ordinal, std::size_t samples, const Row& row) {
  const std::size_t n = row.shape.row();
  for_each_row<Backend, Elements>(ordinal, samples * row.shape.groups, n, row_grain(n, 2), row);
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

#include DEVPLACE_BACKENDS(group_norm)
