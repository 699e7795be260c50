// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/nn/detail/calls.hpp>
#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/batch_norm.hpp>
#include <devplace/ops/batch_norm_over_places.hpp>
#include <devplace/ops/for_each.hpp>

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

/// The arguments of a batch_norm, as run-time values.
struct batch_norm_facts {
  std::size_t channels;
  double momentum, epsilon;
  bool refuses_one;
};

/// The passes of batch_norm; `Joint`: over the samples of all places. The number of channels is a run-time value and
/// functions are not inlined, so that all layers share the code.
///
/// Layout of the statistics, for each channel: with Joint, two keys (order_key) and two integer sums, which are reduced
/// over the places. Then always the three numbers of channel_scales, and two means for backward.
template <class P, class Backend, bool Joint> struct passes_of_batch_norm {
  using T = element_of_t<P>;
  using F = accumulator_of<P>;
  using G = gradient_of<P>;

  template <class Number>
  static constexpr std::size_t reduced_of_channel = Joint ? 4 * sizeof(std::int64_t) / sizeof(Number) : 0;
  static constexpr std::size_t reductions = Joint ? 2 : 0;

  const batch_norm_facts& layer;
  const pass<P>& p;
  std::size_t extent;  ///< elements of a channel of one sample
  F* statistics;

  [[gnu::noinline]] void forward(const T* x, T* y) const {
    if (p.mode == mode::train && elements() != 1) {
      if (!compute_statistics(x)) return;
    } else {
      if (layer.refuses_one && p.mode == mode::train) throw_one_element_per_channel();
      if (p.phase != reductions) return;
      for_each_channel(
          devplace::detail::running_scales_functor<F>{scales(), p.buffers, second(p.buffers), layer.epsilon});
    }
    devplace::detail::for_each_index<Backend>(
        p.ordinal, shape().size(), 16384,
        devplace::detail::scale_channels_functor<T, F>{shape(), y, x, scales(), p.master_parameters,
                                                       second(p.master_parameters)});
  }

  /// `gradients`: of the weight, followed by those of the bias. `dx` may be null.
  [[gnu::noinline]] void backward(const T* x, const T* dy, T* dx, G* gradients, bool accumulate) const {
    if (!compute_gradients(x, dy, gradients, accumulate) || dx == nullptr) return;
    devplace::detail::for_each_index<Backend>(p.ordinal, shape().size(), 16384,
                                              devplace::detail::batch_norm_gradient_functor<T, F>{
                                                  shape(), dx, x, dy, scales(), p.master_parameters, means()});
  }

 private:
  devplace::detail::channel_shape shape() const { return {p.batch, layer.channels, extent}; }
  /// The number of elements of each channel that the statistics cover.
  std::size_t elements() const { return (Joint ? p.samples : p.batch) * extent; }
  /// The address of the layer's second parameter, buffer or gradient.
  template <class Number> Number* second(Number* first) const { return first + padded(layer.channels); }
  F* numbers() const { return statistics + reduced_of_channel<F> * layer.channels; }
  auto scales() const { return devplace::detail::channel_scales<F>::in(numbers(), layer.channels); }
  F* means() const { return numbers() + 3 * layer.channels; }
  std::int64_t* keys() const { return static_cast<std::int64_t*>(static_cast<void*>(statistics)); }
  std::int64_t* sums() const { return keys() + 2 * layer.channels; }
  template <class Functor> void for_each_channel(const Functor& f) const {
    devplace::detail::for_each_index<Backend>(p.ordinal, layer.channels, 4096, f);
  }
  /// Sums terms over each channel. With Joint, requests the reduction `op` of the results, which begin at `reduced`.
  void sum_channels(const auto& terms, std::int64_t* reduced = nullptr, reduction op = reduction::sum) const {
    devplace::detail::sum_channels<Backend>(p.ordinal, shape(), terms);
    if (reduced != nullptr && p.reduced != nullptr) *p.reduced = {reduced, 2 * layer.channels, op};
  }

  /// Computes the statistics of a training batch. Returns false while a reduction over the places is pending.
  bool compute_statistics(const T* x) const {
    const auto count = static_cast<double>(elements());
    const devplace::detail::statistics_of_batch<F> result{scales(), p.buffers, second(p.buffers), layer.momentum,
                                                          layer.epsilon};
    if constexpr (Joint) {
      if (elements() == 0) return false;
      const double unit = devplace::detail::exact_unit(elements());
      if (p.phase == 0)
        sum_channels(devplace::detail::range_terms<T, F>{{keys()}, x}, keys(), reduction::max);
      else if (p.phase == 1)
        sum_channels(devplace::detail::exact_moment_terms<T, F>{{sums()}, x, keys(), unit}, sums());
      else
        for_each_channel(devplace::detail::exact_statistics_functor<F>{keys(), sums(), unit, count, result});
    } else {
      sum_channels(devplace::detail::moment_terms<T, F>{x, extent, count, result});
    }
    return p.phase == reductions;
  }

  /// Computes the sums that backward needs, and the gradients of weight and bias. With Joint, the first place's
  /// gradients are the sums over all places, and the gradients of other places are zeros. Returns false while a
  /// reduction over the places is pending.
  bool compute_gradients(const T* x, const T* dy, G* gradients, bool accumulate) const {
    // A single element x is normalised by the running statistics. They do not depend on x, so the means do not
    // contribute to the gradient of x: division by an infinite count makes the means 0.
    const double count = elements() == 1 ? devplace::detail::infinity<double> : static_cast<double>(elements());
    const devplace::detail::gradients_of_batch<G, F> result{gradients, second(gradients), accumulate,
                                                            means(),   layer.channels,    count};
    if constexpr (Joint) {
      if (elements() == 0) return false;
      const double unit = devplace::detail::exact_unit(elements());
      if (p.phase == 0)
        sum_channels(devplace::detail::gradient_range_terms<T, F>{{keys()}, x, dy, scales()}, keys(), reduction::max);
      else if (p.phase == 1)
        sum_channels(devplace::detail::exact_gradient_terms<T, F>{{sums()}, x, dy, scales(), keys(), unit}, sums());
      else
        for_each_channel(
            devplace::detail::exact_gradients_functor<G, F>{{keys(), sums(), unit}, p.first ? 1.0 : 0.0, result});
    } else {
      sum_channels(devplace::detail::batch_norm_gradient_terms<T, G, F>{x, dy, scales(), result});
    }
    return p.phase == reductions;
  }
};

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
  static constexpr detail::batch_norm_facts facts{Channels, detail::number_of<Momentum>, detail::number_of<Epsilon>,
                                                  refuses_one};
  template <class P, class Backend> using passes = detail::passes_of_batch_norm<P, Backend, joint>;

 public:
  static_assert(detail::check_sizes<Channels>());
  static_assert(Channels > 0, "devplace: batch_norm<Channels> needs at least one channel.");
  static_assert(
      std::is_same_v<Samples, of_each_place> || std::is_same_v<Samples, over_all_places>,
      "devplace: batch_norm's second argument names the samples that give the statistics: nn::of_each_place or "
      "nn::over_all_places. Momentum and epsilon follow: batch_norm<64, nn::of_each_place, std::ratio<1, 100>>.");
  static_assert(detail::number_of<Momentum> >= 0 && detail::number_of<Momentum> <= 1,
                "devplace: batch_norm takes the momentum, the weight of new statistics in the running statistics, as a "
                "ratio from 0 to 1: batch_norm<64, nn::of_each_place, std::ratio<1, 10>>.");
  static_assert(detail::number_of<Epsilon> >= 0,
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
  static constexpr bool reads_masters = true;
  template <class X>
  static constexpr std::size_t statistics =
      (passes<float, backend::cpu>::template reduced_of_channel<float> + 5) * Channels;
  static constexpr std::size_t reductions_per_pass = joint ? 2 : 0;
  static constexpr std::size_t reduction_integers = joint ? 2 * Channels : 0;
  static constexpr std::array parameters{parameter{"weight", {Channels}, init::ones()},
                                         parameter{"bias", {Channels}, init::zeros()}};
  static constexpr std::array buffers{parameter{"running_mean", {Channels}, init::zeros()},
                                      parameter{"running_var", {Channels}, init::ones()}};

  static void forward(const auto& c) { passes_of(c).forward(c.input.data(), c.output.data()); }
  static void backward(const auto& c) {
    passes_of(c).backward(c.input.data(), c.output_gradient.data(), c.input_gradient.data(),
                          c.template parameter_gradient<0>().data(), c.accumulate);
  }
  ///@}

 private:
  template <class Call>
  static passes<typename Call::precision_type, typename Call::backend_type> passes_of(const Call& c) {
    return {facts, c.pass_of_layer(), detail::sample_size<typename Call::sample> / Channels, c.statistics()};
  }
};

}  // namespace devplace::nn
