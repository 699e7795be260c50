// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/nn/detail/channels_fit.hpp>
#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/batch_norm.hpp>
#include <devplace/ops/batch_norm_over_places.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/place/placement.hpp>

namespace devplace::nn {

/// An option of batch_norm on several places: statistics of each place's own samples, as in PyTorch.
struct of_each_place {};

/// An option of batch_norm: statistics of the samples of all places in all processes, as torch.nn.SyncBatchNorm.
struct over_all_places {};

/// An option of batch_norm for training with one element of each channel, where the variance is undefined: normalises
/// by the running statistics and does not change them. In the last batch of an epoch, a place may have a single sample
/// [C].
struct running_statistics_of_one {};

/// An option of batch_norm for training with one element of each channel: throws shape_error, as PyTorch does.
struct refuse_one {};

namespace detail {

[[noreturn]] inline void throw_one_element_per_channel() {
  throw shape_error(
      "batch_norm: training needs more than one element of each channel on a place that has samples, because the "
      "variance of one element is undefined; give a larger batch, drop a smaller last batch (.drop_last of a loader), "
      "or name nn::running_statistics_of_one instead of nn::refuse_one.");
}

}  // namespace detail

/// Computes w (x - mean) / sqrt(variance + epsilon) + b for each of `Channels` channels, a sample's first axis:
/// torch.nn.BatchNorm1d of samples [C] and [C, L], BatchNorm2d of [C, H, W], BatchNorm3d. Training uses mean and
/// variance of the batch, over samples and positions. Training also sets the buffers `running_mean` and `running_var`
/// to (1 - momentum) running + momentum new, with the unbiased new variance. Prediction uses the buffers. `weight` w
/// starts as ones and `bias` b as zeros, both [Channels]; momentum and epsilon are std::ratio. Statistics are summed in
/// double, in an order independent of the number of threads.
///
/// Training with one element of each channel on a place (or over all places), such as a single sample [C], normalises
/// by the running statistics, as prediction does, and leaves them unchanged; backward treats them as constants. With
/// `refuse_one` as the last argument the pass throws shape_error.
///
/// On several places `batch_norm<Channels>` normalises each place's samples alone, and the running statistics are those
/// of the first place's samples, as in PyTorch. `batch_norm<Channels, over_all_places>` normalises over the samples of
/// all places and processes, as torch.nn.SyncBatchNorm. This variant needs a trainer. Each pass stops twice for a
/// reduction of 16 bytes per channel; places without samples take part. The results have the same bits however the
/// samples are divided, since the sums are integers. The unit of these integers is the range of a channel's N elements,
/// times the larger of 2^-50 and N 2^-60.
///
/// There is no `num_batches_tracked`, which PyTorch uses if momentum is None: buffers have the parameters' type, which
/// does not represent every count.
template <std::size_t Channels, class Samples = of_each_place, class Momentum = std::ratio<1, 10>,
          class Epsilon = std::ratio<1, 100000>, class OfOne = running_statistics_of_one>
struct batch_norm {
 private:
  static constexpr bool joint = std::is_same_v<Samples, over_all_places>;
  static constexpr bool refuses_one = std::is_same_v<OfOne, refuse_one>;
  static constexpr double momentum = detail::number_of<Momentum>, epsilon = detail::number_of<Epsilon>;

  // Layout of the statistics, for each channel: with over_all_places, two keys (order_key) and two integer sums, which
  // are reduced over the places. Then always the three numbers of channel_scales, and two means for backward.
  template <class F>
  static constexpr std::size_t numbers_of_statistics = joint ? 4 * Channels * sizeof(std::int64_t) / sizeof(F) : 0;

 public:
  static_assert(detail::check_sizes<Channels>());
  static_assert(Channels > 0, "devplace: batch_norm<Channels> needs at least one channel.");
  static_assert(
      std::is_same_v<Samples, of_each_place> || std::is_same_v<Samples, over_all_places>,
      "devplace: batch_norm's second argument names the samples that give the statistics: nn::of_each_place or "
      "nn::over_all_places. Momentum and epsilon follow: batch_norm<64, nn::of_each_place, std::ratio<1, 100>>.");
  static_assert(detail::is_ratio<Momentum> && detail::number_of<Momentum> >= 0 && detail::number_of<Momentum> <= 1,
                "devplace: batch_norm takes the momentum, the weight of new statistics in the running statistics, as a "
                "ratio from 0 to 1: batch_norm<64, nn::of_each_place, std::ratio<1, 10>>.");
  static_assert(detail::is_ratio<Epsilon> && detail::number_of<Epsilon> >= 0,
                "devplace: batch_norm takes epsilon as a ratio that is not negative: batch_norm<64, "
                "nn::of_each_place, std::ratio<1, 10>, std::ratio<1, 1000>>.");
  static_assert(refuses_one || std::is_same_v<OfOne, running_statistics_of_one>,
                "devplace: batch_norm's fifth argument selects how to train with one element of each channel: "
                "nn::running_statistics_of_one, which is the default, or nn::refuse_one.");
  /// Members that layer_for requires, and `takes`, the check of the input's extents X.
  ///@{
  template <class X> using takes = detail::channels_fit<Channels, X>;
  template <class X> using output = typename takes<X>::type;
  static constexpr keep keeps = keep::input;
  template <class X> static constexpr std::size_t statistics = numbers_of_statistics<float> + 5 * Channels;
  static constexpr std::size_t reductions_per_pass = joint ? 2 : 0;
  static constexpr std::size_t reduction_integers = joint ? 2 * Channels : 0;
  static constexpr std::array parameters{parameter{"weight", {Channels}, init::ones()},
                                         parameter{"bias", {Channels}, init::zeros()}};
  static constexpr std::array buffers{parameter{"running_mean", {Channels}, init::zeros()},
                                      parameter{"running_var", {Channels}, init::ones()}};

  template <class Call> static void forward(const Call& c) {
    using T = typename Call::value_type;
    const auto shape = detail::shape_of_channels(c);
    const auto scales = scales_of(c);
    if (c.mode == mode::train && elements_of(c, shape) != 1) {
      if (!compute_statistics(c, shape, scales)) return;
    } else {
      if (refuses_one && c.mode == mode::train) detail::throw_one_element_per_channel();
      if (c.phase() != reductions_per_pass) return;
      for_each_channel(c, devplace::detail::running_scales_functor<statistic<Call>>{
                              scales, c.template buffer<0>().data(), c.template buffer<1>().data(), epsilon});
    }
    devplace::detail::for_each_index<typename Call::backend_type>(
        c.ordinal(), shape.size(), 16384,
        devplace::detail::scale_channels_functor<T, statistic<Call>>{shape, c.output.data(), c.input.data(), scales,
                                                                     c.template master_parameter<0>().data(),
                                                                     c.template master_parameter<1>().data()});
  }

  template <class Call> static void backward(const Call& c) {
    using T = typename Call::value_type;
    const auto shape = detail::shape_of_channels(c);
    if (!compute_gradients(c, shape) || !c.needs_input_gradient) return;
    devplace::detail::for_each_index<typename Call::backend_type>(
        c.ordinal(), shape.size(), 16384,
        devplace::detail::batch_norm_gradient_functor<T, statistic<Call>>{
            shape, c.input_gradient.data(), c.input.data(), c.output_gradient.data(), scales_of(c),
            c.template master_parameter<0>().data(), means_of(c)});
  }
  ///@}

 private:
  template <class Call> using statistic = typename Call::accumulator_type;

  template <class Call> static auto scales_of(const Call& c) {
    using F = statistic<Call>;
    return devplace::detail::channel_scales<F>::in(c.statistics() + numbers_of_statistics<F>, Channels);
  }
  template <class Call> static auto* means_of(const Call& c) {
    return c.statistics() + numbers_of_statistics<statistic<Call>> + 3 * Channels;
  }
  template <class Call> static std::int64_t* keys_of(const Call& c) {
    return static_cast<std::int64_t*>(static_cast<void*>(c.statistics()));
  }
  /// The number of elements of each channel that the statistics cover.
  template <class Call> static std::size_t elements_of(const Call& c, const devplace::detail::channel_shape& shape) {
    return (joint ? c.samples() : shape.samples) * shape.extent;
  }
  template <class Call, class F> static void for_each_channel(const Call& c, const F& f) {
    devplace::detail::for_each_index<typename Call::backend_type>(c.ordinal(), Channels, 4096, f);
  }

  /// Computes the statistics of a training batch. Returns false while a reduction over the places is pending.
  template <class Call>
  static bool compute_statistics(const Call& c, const devplace::detail::channel_shape& shape, const auto& scales) {
    using T = typename Call::value_type;
    using F = statistic<Call>;
    using Backend = typename Call::backend_type;
    const std::size_t elements = elements_of(c, shape);
    const auto count = static_cast<double>(elements);
    const devplace::detail::statistics_of_batch<F> result{scales, c.template buffer<0>().data(),
                                                          c.template buffer<1>().data(), momentum, epsilon};
    if constexpr (joint) {
      if (elements == 0) return false;
      std::int64_t *const keys = keys_of(c), *const sums = keys + 2 * Channels;
      const double unit = devplace::detail::exact_unit(elements);
      if (c.phase() == 0) {
        devplace::detail::sum_channels<Backend>(c.ordinal(), shape,
                                                devplace::detail::range_terms<T, F>{{keys}, c.input.data()});
        c.reduce(keys, 2 * Channels, reduction::max);
      } else if (c.phase() == 1) {
        devplace::detail::sum_channels<Backend>(
            c.ordinal(), shape, devplace::detail::exact_moment_terms<T, F>{{sums}, c.input.data(), keys, unit});
        c.reduce(sums, 2 * Channels, reduction::sum);
      } else {
        for_each_channel(c, devplace::detail::exact_statistics_functor<F>{keys, sums, unit, count, result});
      }
      return c.phase() == reductions_per_pass;
    } else {
      devplace::detail::sum_channels<Backend>(
          c.ordinal(), shape, devplace::detail::moment_terms<T, F>{c.input.data(), shape.extent, count, result});
      return true;
    }
  }

  /// Computes the sums that backward needs, and the gradients of weight and bias. With over_all_places, the first
  /// place's gradients are the sums over all places, and the gradients of other places are zeros. Returns false while a
  /// reduction over the places is pending.
  template <class Call> static bool compute_gradients(const Call& c, const devplace::detail::channel_shape& shape) {
    using T = typename Call::value_type;
    using F = statistic<Call>;
    using G = typename Call::gradient_type;
    using Backend = typename Call::backend_type;
    const std::size_t elements = elements_of(c, shape);
    // A single element x is normalised by the running statistics. They do not depend on x, so the means do not
    // contribute to the gradient of x: division by an infinite count makes the means 0.
    const double count = elements == 1 ? devplace::detail::infinity<double> : static_cast<double>(elements);
    const auto scales = scales_of(c);
    const devplace::detail::gradients_of_batch<G, F> result{c.template parameter_gradient<0>().data(),
                                                            c.template parameter_gradient<1>().data(),
                                                            c.accumulate,
                                                            means_of(c),
                                                            Channels,
                                                            count};
    const T *const x = c.input.data(), *const dy = c.output_gradient.data();
    if constexpr (joint) {
      if (elements == 0) return false;
      std::int64_t *const keys = keys_of(c), *const sums = keys + 2 * Channels;
      const double unit = devplace::detail::exact_unit(elements);
      if (c.phase() == 0) {
        devplace::detail::sum_channels<Backend>(c.ordinal(), shape,
                                                devplace::detail::gradient_range_terms<T, F>{{keys}, x, dy, scales});
        c.reduce(keys, 2 * Channels, reduction::max);
      } else if (c.phase() == 1) {
        devplace::detail::sum_channels<Backend>(
            c.ordinal(), shape, devplace::detail::exact_gradient_terms<T, F>{{sums}, x, dy, scales, keys, unit});
        c.reduce(sums, 2 * Channels, reduction::sum);
      } else {
        for_each_channel(
            c, devplace::detail::exact_gradients_functor<G, F>{keys, sums, unit, c.is_first() ? 1.0 : 0.0, result});
      }
      return c.phase() == reductions_per_pass;
    } else {
      devplace::detail::sum_channels<Backend>(
          c.ordinal(), shape, devplace::detail::batch_norm_gradient_terms<T, G, F>{x, dy, scales, result});
      return true;
    }
  }
};

}  // namespace devplace::nn
