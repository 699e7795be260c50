// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/group_norm.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/batch_norm_over_places.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace::nn::detail {

/// Computes the scales of a group from its keys and sums, for each channel of the group.
template <class F> struct group_scales_functor {
  const std::int64_t* keys;
  const std::int64_t* sums;
  double unit, count, epsilon;
  std::size_t members;
  devplace::detail::channel_scales<F> scales;

  DEVPLACE_HD void operator()(std::size_t group) const {
    const auto range = devplace::detail::channel_range<F>::from_keys(keys, group);
    const double rest = range.scale.scaled(static_cast<double>(sums[2 * group]) / unit / count);
    const double mean_of_squares = static_cast<double>(sums[2 * group + 1]) / unit / count;
    const double square = range.scale.scaled(range.scale.scaled(mean_of_squares));
    const double difference = square - rest * rest, variance = difference < 0 ? 0 : difference;
    for (std::size_t i = group * members; i != (group + 1) * members; ++i) {
      scales.shift[i] = range.shift;
      scales.rest[i] = static_cast<F>(rest);
      scales.scale[i] = static_cast<F>(1 / std::sqrt(variance + epsilon));
    }
  }
};

/// Sums of dy and of dy h over the places, where h is the normalised x, for each channel of each sample.
struct sums_of_samples {
  const std::int64_t* keys;
  const std::int64_t* sums;
  double unit;

  DEVPLACE_HD double operator()(std::size_t i) const {
    return devplace::detail::exact_scale(devplace::detail::number_of_key(keys[i]))
        .scaled(static_cast<double>(sums[i]) / unit);
  }
};

/// Computes the means of w dy and of w dy h of a group, for each channel of the group.
template <class F> struct group_means_functor {
  sums_of_samples sum;
  const F* weight;
  double count;
  std::size_t groups, members;
  F* means;  ///< two for each channel of each sample

  DEVPLACE_HD void operator()(std::size_t group) const {
    double mean = 0, slope = 0;
    for (std::size_t c = 0; c != members; ++c) {
      const double w = static_cast<double>(weight[group % groups * members + c]);
      mean += w * sum(2 * (group * members + c));
      slope += w * sum(2 * (group * members + c) + 1);
    }
    for (std::size_t i = group * members; i != (group + 1) * members; ++i) {
      means[2 * i] = static_cast<F>(mean / count);
      means[2 * i + 1] = static_cast<F>(slope / count);
    }
  }
};

/// Stores the gradients of weight and bias; `share` is the factor of this place's contribution.
template <class G> struct group_gradients_functor {
  sums_of_samples sum;
  std::size_t samples, channels;
  double share;
  G* weight_gradient;
  G* bias_gradient;
  bool accumulate;

  DEVPLACE_HD void operator()(std::size_t c) const {
    double of_weight = 0, of_bias = 0;
    for (std::size_t i = c; i < samples * channels; i += channels) {
      of_bias += sum(2 * i);
      of_weight += sum(2 * i + 1);
    }
    devplace::detail::store_sum(weight_gradient[c], share * of_weight, accumulate);
    devplace::detail::store_sum(bias_gradient[c], share * of_bias, accumulate);
  }
};

/// y = w h + b.
template <class X, class F> struct scale_groups_functor {
  std::size_t extent, channels;
  X* y;
  const X* x;
  devplace::detail::channel_scales<F> scales;
  const F* weight;
  const F* bias;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t plane = i / extent;
    const F h = ((static_cast<F>(x[i]) - scales.shift[plane]) - scales.rest[plane]) * scales.scale[plane];
    y[i] = static_cast<X>(h * weight[plane % channels] + bias[plane % channels]);
  }
};

/// dx = scale (w dy - mean(w dy) - h mean(w dy h)).
template <class X, class F> struct group_gradient_functor {
  std::size_t extent, channels;
  X* dx;
  const X* x;
  const X* dy;
  devplace::detail::channel_scales<F> scales;
  const F* weight;
  const F* means;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t plane = i / extent;
    const F scale = scales.scale[plane];
    const F h = ((static_cast<F>(x[i]) - scales.shift[plane]) - scales.rest[plane]) * scale;
    const F g = weight[plane % channels] * static_cast<F>(dy[i]);
    dx[i] = static_cast<X>(scale * ((g - means[2 * plane]) - h * means[2 * plane + 1]));
  }
};

/// group_norm over strips on `Parts` places. As in batch_norm over all places, sums are integers, so that the bits do
/// not depend on the number of places. Each pass stops twice.
///
/// Saved: three numbers for each channel of each sample (channel_scales). Scratch memory: keys and sums, and means.
template <std::size_t Parts, std::size_t Groups, std::size_t Channels, class Epsilon> struct strip_group_norm {
 private:
  using whole = group_norm<Groups, Channels, Epsilon>;
  static constexpr std::size_t integers = 4 * Channels * sizeof(std::int64_t) / sizeof(float);

 public:
  template <class X> using output = X;
  static constexpr keep keeps = keep::input;
  static constexpr bool reads_masters = true, reduces_for_each_sample = true;
  template <class X> static constexpr std::size_t saved = 3 * Channels;
  template <class X> static constexpr std::size_t scratch = integers + 2 * Channels;
  static constexpr std::size_t reductions_per_pass = 2;
  /// Of one reduction over the places; more integers are reduced in portions.
  static constexpr std::size_t reduction_integers = std::max(2 * Channels, std::size_t{2048});
  static constexpr auto parameters = whole::parameters;
  template <class X> static constexpr strip_traffic exchanged(bool backward, bool) {
    return {0, 4 * (backward ? Channels : Groups)};
  }

  template <class Call> static void forward(const Call& c) {
    using T = typename Call::value_type;
    using F = typename Call::accumulator_type;
    if (c.batch() == 0) return;
    constexpr std::size_t of_group = extent<Call> * (Channels / Groups);
    const std::size_t groups = c.batch() * Groups;
    const devplace::detail::channel_shape shape{1, groups, of_group};
    std::int64_t *const keys = keys_of(c), *const sums = keys + 2 * groups;
    constexpr double unit = devplace::detail::exact_unit(Parts * of_group);
    if (c.phase() == 0) {
      sum(c, shape, devplace::detail::range_terms<T, F>{{keys}, c.input.data()});
      c.reduce(keys, 2 * groups, reduction::max);
    } else if (c.phase() == 1) {
      sum(c, shape, devplace::detail::exact_moment_terms<T, F>{{sums}, c.input.data(), keys, unit});
      c.reduce(sums, 2 * groups, reduction::sum);
    } else {
      run(c, groups, 1024,
          group_scales_functor<F>{keys, sums, unit, static_cast<double>(Parts * of_group), detail::number_of<Epsilon>,
                                  Channels / Groups, scales_of(c)});
      run(c, c.output.size(), 16384,
          scale_groups_functor<T, F>{extent<Call>, Channels, c.output.data(), c.input.data(), scales_of(c),
                                     c.template master_parameter<0>().data(), c.template master_parameter<1>().data()});
    }
  }
  template <class Call> static void backward(const Call& c) {
    using T = typename Call::value_type;
    using F = typename Call::accumulator_type;
    if (c.batch() == 0) return;
    const std::size_t channels = c.batch() * Channels;
    const devplace::detail::channel_shape shape{1, channels, extent<Call>};
    std::int64_t *const keys = keys_of(c), *const sums = keys + 2 * channels;
    constexpr double unit = devplace::detail::exact_unit(Parts * extent<Call>);
    const T *const x = c.input.data(), *const dy = c.output_gradient.data();
    if (c.phase() == 0) {
      sum(c, shape, devplace::detail::gradient_range_terms<T, F>{{keys}, x, dy, scales_of(c)});
      c.reduce(keys, 2 * channels, reduction::max);
    } else if (c.phase() == 1) {
      sum(c, shape, devplace::detail::exact_gradient_terms<T, F>{{sums}, x, dy, scales_of(c), keys, unit});
      c.reduce(sums, 2 * channels, reduction::sum);
    } else {
      const sums_of_samples results{keys, sums, unit};
      if constexpr (Call::needs_parameter_gradients)
        run(c, Channels, 256,
            group_gradients_functor<typename Call::gradient_type>{
                results, c.batch(), Channels, c.is_first() ? 1.0 : 0.0, c.template parameter_gradient<0>().data(),
                c.template parameter_gradient<1>().data(), c.accumulate});
      if (!c.needs_input_gradient) return;
      F* const means = c.scratch().data() + c.batch() * integers;
      const F* const weight = c.template master_parameter<0>().data();
      constexpr auto count = static_cast<double>(Parts * extent<Call> * (Channels / Groups));
      run(c, c.batch() * Groups, 1024,
          group_means_functor<F>{results, weight, count, Groups, Channels / Groups, means});
      run(c, c.input_gradient.size(), 16384,
          group_gradient_functor<T, F>{extent<Call>, Channels, c.input_gradient.data(), x, dy, scales_of(c), weight,
                                       means});
    }
  }

 private:
  /// The number of positions of a channel on a place.
  template <class Call> static constexpr std::size_t extent = sample_size<typename Call::sample> / Channels;
  template <class Call> static std::int64_t* keys_of(const Call& c) {
    return static_cast<std::int64_t*>(static_cast<void*>(c.scratch().data()));
  }
  template <class Call> static auto scales_of(const Call& c) {
    return devplace::detail::channel_scales<typename Call::accumulator_type>::in(c.saved().data(),
                                                                                 c.batch() * Channels);
  }
  template <class Call>
  static void sum(const Call& c, const devplace::detail::channel_shape& shape, const auto& terms) {
    devplace::detail::sum_channels<typename Call::backend_type>(c.ordinal(), shape, terms);
  }
  template <class Call> static void run(const Call& c, std::size_t n, std::size_t grain, const auto& f) {
    devplace::detail::for_each_index<typename Call::backend_type>(c.ordinal(), n, grain, f);
  }
};

}  // namespace devplace::nn::detail
