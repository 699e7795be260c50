// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/detail/channel_sums.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/for_each.hpp>

// The functors of batch normalisation (Ioffe and Szegedy 2015): y = w (x - mean) / sqrt(variance + epsilon) + b with
// the statistics of each channel. Activations have type X; weights and statistics have type F, float or double.

namespace devplace::detail {

/// Maps elements of each channel to normalised values: (x - shift - rest) * scale. The mean is shift + rest, two
/// numbers, so that a large mean is not rounded.
template <class F> struct channel_scales {
  F* shift;
  F* rest;
  F* scale;

  /// Uses `memory` for 3 * channels elements.
  DEVPLACE_HD static channel_scales in(F* memory, std::size_t channels) {
    return {memory, memory + channels, memory + 2 * channels};
  }
};

/// Stores a channel's statistics and updates the running statistics, if any: (1 - momentum) running + momentum new. The
/// running variance is unbiased.
template <class F> struct statistics_of_batch {
  channel_scales<F> scales;
  F* running_mean;
  F* running_variance;
  double momentum, epsilon;

  /// `rest` is the mean of x - shift over `count` elements, `square` the mean of (x - shift)^2.
  DEVPLACE_HD void store(std::size_t c, F shift, double rest, double square, double count) const {
    const double difference = square - rest * rest, variance = difference < 0 ? 0 : difference;
    scales.shift[c] = shift;
    scales.rest[c] = static_cast<F>(rest);
    scales.scale[c] = static_cast<F>(1 / std::sqrt(variance + epsilon));
    if (running_mean == nullptr) return;
    update(running_mean[c], static_cast<double>(shift) + rest);
    update(running_variance[c], variance * (count / (count - 1)));
  }

 private:
  DEVPLACE_HD void update(F& running, double now) const {
    running = static_cast<F>((1 - momentum) * static_cast<double>(running) + momentum * now);
  }
};

/// The sums of x - shift and of (x - shift)^2, for channel_sums. The shift is the channel's first element, so that a
/// large mean cancels no digits.
template <class X, class F> struct moment_terms {
  using value_type = double;
  const X* x;
  std::size_t extent;
  double count;
  statistics_of_batch<F> result;

  struct summand {
    const X* x;
    double shift;
    DEVPLACE_HD one_input<X> inputs() const { return {x}; }
    DEVPLACE_HD pair_of<double> from_inputs(X value) const {
      const double difference = static_cast<double>(static_cast<F>(value)) - shift;
      return {difference, difference * difference};
    }
    DEVPLACE_HD pair_of<double> operator()(std::size_t i) const { return from_inputs(x[i]); }
  };
  DEVPLACE_HD summand of_channel(std::size_t c) const { return {x, static_cast<double>(shift(c))}; }
  DEVPLACE_HD static constexpr double neutral() { return 0; }
  DEVPLACE_HD static constexpr void combine(double& a, double b) { a += b; }
  DEVPLACE_HD void store(std::size_t c, const pair_of<double>& sums) const {
    result.store(c, shift(c), sums.first / count, sums.second / count, count);
  }

 private:
  DEVPLACE_HD F shift(std::size_t c) const { return static_cast<F>(x[c * extent]); }
};

template <class F> struct running_scales_functor {
  channel_scales<F> scales;
  const F* running_mean;
  const F* running_variance;
  double epsilon;

  DEVPLACE_HD void operator()(std::size_t c) const {
    scales.shift[c] = running_mean[c];
    scales.rest[c] = 0;
    scales.scale[c] = static_cast<F>(1 / std::sqrt(static_cast<double>(running_variance[c]) + epsilon));
  }
};

/// Sets elements [from, until) of `to` to f.of_channel(c) of the elements of `x`, where c is an element's channel.
template <class Functor, class T, class... X>
void map_channels(const Functor& f, std::size_t from, std::size_t until, T* __restrict to, const X*... x) {
  const auto of_one = [&f, to, x...](std::size_t c, std::size_t begin, std::size_t end) {
    const auto of_c = f.of_channel(c);
    independent_loop(begin, end, [=](std::size_t i) { to[i] = of_c(x[i]...); });
  };
  const auto of_several = [&f, to, x...](std::size_t first, std::size_t begin, std::size_t end) {
    const Functor own = f;
    independent_loop(begin, end, [&](std::size_t i) { to[i] = own.of_channel(first + (i - begin))(x[i]...); });
  };
  f.shape.for_each_run(from, until, of_one, of_several);
}

/// y = w h + b, where h is the normalised x.
template <class X, class F> struct scale_channels_functor {
  channel_shape shape;
  X* y;
  const X* x;
  channel_scales<F> scales;
  const F* weight;
  const F* bias;

  struct map {
    F shift, rest, scale, weight, bias;
    DEVPLACE_HD X operator()(X value) const {
      return static_cast<X>(((static_cast<F>(value) - shift) - rest) * scale * weight + bias);
    }
  };
  DEVPLACE_HD map of_channel(std::size_t c) const {
    return {scales.shift[c], scales.rest[c], scales.scale[c], weight[c], bias[c]};
  }
  DEVPLACE_HD void operator()(std::size_t i) const { y[i] = of_channel(shape.channel_of(i))(x[i]); }
  void range(std::size_t from, std::size_t until) const { map_channels(*this, from, until, y, x); }
};

/// Returns two numbers for each element of a channel: dy, and dy times normalised x.
template <class X, class F> struct batch_norm_products {
  const X* x;
  const X* dy;
  F shift, rest, scale;

  DEVPLACE_HD batch_norm_products(const X* inputs, const X* gradients, const channel_scales<F>& scales, std::size_t c)
      : x(inputs), dy(gradients), shift(scales.shift[c]), rest(scales.rest[c]), scale(scales.scale[c]) {}
  DEVPLACE_HD two_inputs<X, X> inputs() const { return {x, dy}; }
  DEVPLACE_HD pair_of<double> from_inputs(X value, X of_value) const {
    const F gradient = static_cast<F>(of_value), normalized = ((static_cast<F>(value) - shift) - rest) * scale;
    return {static_cast<double>(gradient), static_cast<double>(gradient) * static_cast<double>(normalized)};
  }
  DEVPLACE_HD pair_of<double> operator()(std::size_t i) const { return from_inputs(x[i], dy[i]); }
};

/// Stores a channel's sums of dy and of dy times normalised x as gradients of bias and weight. Stores the means of
/// these terms for the gradient of x.
template <class G, class F> struct gradients_of_batch {
  G* weight_gradient;
  G* bias_gradient;
  bool accumulate;
  F* means;  // of dy and of dy times normalised x: 2 * channels elements
  std::size_t channels;
  double count;

  /// `share` is the factor of this place's contribution to the gradients of weight and bias.
  DEVPLACE_HD void store(std::size_t c, const pair_of<double>& sums, double share) const {
    store_sum(bias_gradient[c], share * sums.first, accumulate);
    store_sum(weight_gradient[c], share * sums.second, accumulate);
    means[c] = static_cast<F>(sums.first / count);
    means[channels + c] = static_cast<F>(sums.second / count);
  }
};

template <class X, class G, class F> struct batch_norm_gradient_terms {
  using value_type = double;
  const X* x;
  const X* dy;
  channel_scales<F> scales;
  gradients_of_batch<G, F> result;

  DEVPLACE_HD batch_norm_products<X, F> of_channel(std::size_t c) const { return {x, dy, scales, c}; }
  DEVPLACE_HD static constexpr double neutral() { return 0; }
  DEVPLACE_HD static constexpr void combine(double& a, double b) { a += b; }
  DEVPLACE_HD void store(std::size_t c, const pair_of<double>& sums) const { result.store(c, sums, 1); }
};

/// dx = w scale (dy - mean(dy) - h mean(dy h)), where h is the normalised x.
template <class X, class F> struct batch_norm_gradient_functor {
  channel_shape shape;
  X* dx;
  const X* x;
  const X* dy;
  channel_scales<F> scales;
  const F* weight;
  const F* means;  // from batch_norm_gradient_terms

  struct map {
    F shift, rest, scale, weight, mean, slope;
    DEVPLACE_HD X operator()(X value, X gradient) const {
      const F normalized = ((static_cast<F>(value) - shift) - rest) * scale;
      return static_cast<X>(weight * scale * ((static_cast<F>(gradient) - mean) - normalized * slope));
    }
  };
  DEVPLACE_HD map of_channel(std::size_t c) const {
    return {scales.shift[c], scales.rest[c], scales.scale[c], weight[c], means[c], means[shape.channels + c]};
  }
  DEVPLACE_HD void operator()(std::size_t i) const { dx[i] = of_channel(shape.channel_of(i))(x[i], dy[i]); }
  void range(std::size_t from, std::size_t until) const { map_channels(*this, from, until, dx, x, dy); }
};

}  // namespace devplace::detail

#include DEVPLACE_BACKENDS(batch_norm)
