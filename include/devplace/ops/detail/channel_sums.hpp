// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/detail/plane_rows.hpp>
#include <devplace/ops/detail/quotient.hpp>
#include <devplace/ops/detail/reduced_inputs.hpp>
#include <devplace/place/backend.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, channel_plan)`: two sums for each channel, over all samples and positions. The bits of results do not
/// depend on the number of threads.
struct channel_sums {};

}  // namespace op

namespace detail {

/// Row-major elements [samples, channels, extent]: `extent` is the number of positions, 1 of samples without axes
/// behind the channels.
struct channel_shape {
  std::size_t samples, channels, extent;

  DEVPLACE_HD constexpr std::size_t size() const { return samples * channels * extent; }
  /// Elements of one channel.
  DEVPLACE_HD constexpr std::size_t count() const { return samples * extent; }
  /// The channel of element i.
  DEVPLACE_HD constexpr std::size_t channel_of(std::size_t i) const {
    const std::size_t plane = quotient(i, extent);
    return plane - quotient(plane, channels) * channels;
  }
  /// Calls f(channel, begin, end) for the runs of a channel's neighbouring elements in [begin, end), or of samples
  /// without positions f_of_channels(first channel, begin, end) for those of neighbouring channels.
  template <class F, class FOfChannels>
  void for_each_run(std::size_t begin, std::size_t end, const F& f, const FOfChannels& f_of_channels) const {
    if (extent == 1)
      for_each_plane_row(1, channels, begin, end,
                         [&](std::size_t sample, std::size_t, std::size_t from, std::size_t to) {
                           f_of_channels(from, sample * channels + from, sample * channels + to);
                         });
    else
      for_each_plane_row(channels, extent, begin, end,
                         [&](std::size_t sample, std::size_t channel, std::size_t from, std::size_t to) {
                           const std::size_t plane = (sample * channels + channel) * extent;
                           f(channel, plane + from, plane + to);
                         });
  }
};

/// Two numbers that are summed at the same time.
template <class T>
struct pair_of {
  T first, second;
};

/// `terms` says what is summed. `terms.of_channel(c)` is a functor that gives for element i of all the summands of
/// channel c as a pair_of<terms.value_type>, and for several at a time by inputs() and of()
/// (detail/reduced_inputs.hpp); `combine(a, b)` adds b to a, in place of a sum perhaps another function that is
/// commutative and associative, whose neutral element is `neutral()`. `terms.store(c, pair)` takes the results.
template <class Terms>
struct channel_plan {
  channel_shape shape;
  Terms terms;
};

/// Computes the sums on a backend's device, in the order of its current stream.
template <class Backend, class Terms>
void sum_channels(int ordinal, const channel_shape& shape, const Terms& terms) {
  dispatch<op::channel_sums, Backend>(ordinal, channel_plan<Terms>{shape, terms});
}

}  // namespace detail
}  // namespace devplace

#include <devplace/backend/cpu/channel_sums.hpp>
#include DEVPLACE_CUDA_BACKEND(channel_sums)
