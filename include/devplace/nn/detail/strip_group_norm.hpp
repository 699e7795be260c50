// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/group_norm.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/batch_norm_over_places.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace::nn::detail {

/// Computes the means of w dy and of w dy h of a group, for each channel of the group.
template <class F> struct group_means_functor {
  devplace::detail::exact_gradient_sums sum;
  const F* weight;
  double count;
  std::size_t groups, members;
  F* means;         ///< for each channel of each sample, of w dy; and then of w dy h
  std::size_t all;  ///< number of channels of all samples

  DEVPLACE_HD void operator()(std::size_t group) const {
    double mean = 0, slope = 0;
    for (std::size_t c = 0; c != members; ++c) {
      const double w = static_cast<double>(weight[group % groups * members + c]);
      mean += w * sum(2 * (group * members + c));
      slope += w * sum(2 * (group * members + c) + 1);
    }
    for (std::size_t i = group * members; i != (group + 1) * members; ++i) {
      means[i] = static_cast<F>(mean / count);
      means[all + i] = static_cast<F>(slope / count);
    }
  }
};

/// Stores the gradients of weight and bias; `share` is the factor of this place's contribution.
template <class G> struct group_gradients_functor {
  devplace::detail::exact_gradient_sums sum;
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

/// group_norm over strips on `Parts` places. As in batch_norm over all places, sums are integers, so that the bits do
/// not depend on the number of places. Each pass stops twice, for keys and for sums.
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
      run(c, c.batch() * Channels, 1024,
          devplace::detail::exact_statistics_functor<F>{keys,
                                                        sums,
                                                        unit,
                                                        static_cast<double>(Parts * of_group),
                                                        {scales_of(c), nullptr, nullptr, 0, detail::number_of<Epsilon>},
                                                        Channels / Groups});
      planes(c, c.output.data()) = cast<T>(normalized(c) * of_channels(c, c.template master_parameter<0>()) +
                                           of_channels(c, c.template master_parameter<1>()));
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
      const devplace::detail::exact_gradient_sums results{keys, sums, unit};
      if constexpr (Call::needs_parameter_gradients)
        run(c, Channels, 256,
            group_gradients_functor<typename Call::gradient_type>{
                results, c.batch(), Channels, c.is_first() ? 1.0 : 0.0, c.template parameter_gradient<0>().data(),
                c.template parameter_gradient<1>().data(), c.accumulate});
      if (!c.needs_input_gradient) return;
      F* const means = c.scratch().data() + c.batch() * integers;
      const auto weight = c.template master_parameter<0>();
      constexpr auto count = static_cast<double>(Parts * extent<Call> * (Channels / Groups));
      run(c, c.batch() * Groups, 1024,
          group_means_functor<F>{results, weight.data(), count, Groups, Channels / Groups, means, channels});
      // dx = scale (w dy - mean(w dy) - h mean(w dy h))
      planes(c, c.input_gradient.data()) = cast<T>(
          of_planes(c, scales_of(c).scale) * (of_channels(c, weight) * cast<F>(planes(c, dy)) - of_planes(c, means) -
                                              normalized(c) * of_planes(c, means + channels)));
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
  /// Views of elements [samples, channels, positions], and of numbers for each channel of each sample or for each
  /// channel.
  ///@{
  template <class Call> static auto planes(const Call& c, auto* elements) {
    return devplace::detail::view_at<typename Call::backend_type>(c.ordinal(), elements,
                                                                  extents<dyn, Channels, extent<Call>>{c.batch()});
  }
  template <class Call> static auto of_planes(const Call& c, auto* numbers) {
    return devplace::detail::view_at<typename Call::backend_type>(c.ordinal(), numbers,
                                                                  extents<dyn, Channels, 1>{c.batch()});
  }
  template <class Call> static auto of_channels(const Call& c, const auto& parameter) {
    return devplace::detail::view_at<typename Call::backend_type>(c.ordinal(), parameter.data(),
                                                                  extents<Channels, 1>{});
  }
  ///@}
  /// The normalised x.
  template <class Call> static auto normalized(const Call& c) {
    const auto scales = scales_of(c);
    return (cast<typename Call::accumulator_type>(planes(c, c.input.data())) - of_planes(c, scales.shift) -
            of_planes(c, scales.rest)) *
           of_planes(c, scales.scale);
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
