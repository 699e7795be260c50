// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <ratio>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/group_norm.hpp>

namespace devplace::nn {

/// Computes w (x - mean) / sqrt(variance + epsilon) + b for `Channels` channels, a sample's first axis:
/// torch.nn.GroupNorm. Mean and variance are computed for each of `Groups` groups of neighbouring channels of a sample.
/// `weight` w starts as ones and `bias` b as zeros, both [Channels]; epsilon is a std::ratio.
template <std::size_t Groups, std::size_t Channels, class EpsilonRatio = std::ratio<1, 100000>> struct group_norm {
  static_assert(detail::check_sizes<Groups, Channels>());
  static_assert(Groups > 0 && Channels > 0 && Channels % (Groups == 0 ? 1 : Groups) == 0,
                "devplace: group_norm<Groups, Channels> divides the channels into groups of equal size; give a number "
                "of groups that divides the number of channels, as in group_norm<8, 64>.");
  /// Epsilon, a std::ratio.
  using epsilon_ratio = EpsilonRatio;
  static_assert(detail::number_of<epsilon_ratio> >= 0,
                "devplace: group_norm takes epsilon as a ratio that is not negative: group_norm<8, 64, std::ratio<1, "
                "1000>>.");
  /// Members that layer_for requires, and `takes`, the check of the input's extents X.
  ///@{
  template <class X> using takes = detail::channels_fit<Channels, X>;
  template <class X> using output = typename takes<X>::type;
  static constexpr keep keeps = keep::input;
  static constexpr bool reads_masters = true;
  template <class X> static constexpr std::size_t scratch = detail::sample_size<output<X>>;
  static constexpr std::array parameters{parameter{"weight", {Channels}, init::ones()},
                                         parameter{"bias", {Channels}, init::zeros()}};

  template <class Call> static void forward(const Call& c) {
    using T = typename Call::accumulator_type;
    devplace::detail::for_each_group<typename Call::backend_type, detail::sample_size<typename Call::sample> / Groups>(
        c.ordinal(), c.batch(),
        devplace::detail::normalize_group<T, typename Call::value_type>{
            groups(c), c.output.data(), c.input.data(), c.template master_parameter<0>().data(),
            c.template master_parameter<1>().data(), detail::number_of<epsilon_ratio>});
  }

  template <class Call> static void backward(const Call& c) {
    using T = typename Call::accumulator_type;
    T* const terms = c.scratch().data();
    devplace::detail::for_each_group<typename Call::backend_type, detail::sample_size<typename Call::sample> / Groups>(
        c.ordinal(), c.batch(),
        devplace::detail::normalize_backward_group<T, typename Call::value_type>{
            groups(c), c.needs_input_gradient ? c.input_gradient.data() : nullptr, terms, c.input.data(),
            c.output_gradient.data(), c.template master_parameter<0>().data(), detail::number_of<epsilon_ratio>});
    devplace::detail::sum_channels<typename Call::backend_type>(
        c.ordinal(), devplace::detail::channel_shape{c.batch(), Channels, positions<Call>},
        devplace::detail::group_norm_gradient_terms<T, typename Call::gradient_type, typename Call::value_type>{
            terms, c.output_gradient.data(), c.template parameter_gradient<0>().data(),
            c.template parameter_gradient<1>().data(), c.accumulate});
  }
  ///@}

 private:
  template <class Call> static constexpr std::size_t positions = detail::sample_size<typename Call::sample> / Channels;
  template <class Call> static devplace::detail::group_shape groups(const Call&) {
    return {Groups, Channels / Groups, positions<Call>};
  }
};

}  // namespace devplace::nn
