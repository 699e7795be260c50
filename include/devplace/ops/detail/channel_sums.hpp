// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/index_rows.hpp>
#include <devplace/ops/detail/reduced_inputs.hpp>
#include <devplace/place/backend.hpp>

namespace devplace::op {

/// `run(ordinal, channel_plan)`: two sums for each channel, over all samples and positions. The bits of results do not
/// depend on the number of threads.
struct channel_sums {};

}  // namespace devplace::op

namespace devplace::detail {

/// to = sum, or to + sum if `accumulate`.
template <class T> DEVPLACE_HD void store_sum(T& to, double sum, bool accumulate) {
  to = static_cast<T>((accumulate ? static_cast<double>(to) : 0) + sum);
}

/// Row-major elements [samples, channels, extent]. `extent` is the number of positions: 1 if no axes follow the
/// channels.
struct channel_shape {
  std::size_t samples, channels, extent;

  DEVPLACE_HD constexpr std::size_t size() const { return samples * channels * extent; }
  /// Number of elements of one channel.
  DEVPLACE_HD constexpr std::size_t count() const { return samples * extent; }
  DEVPLACE_HD constexpr std::size_t channel_of(std::size_t i) const {
    const std::size_t plane = quotient(i, extent);
    return plane - quotient(plane, channels) * channels;
  }
  /// Calls f(channel, begin, end) for each run of adjacent elements of one channel in [begin, end). With extent 1,
  /// calls f_of_channels(first channel, begin, end) for each run of adjacent channels.
  void for_each_run(std::size_t begin, std::size_t end, const auto& f, const auto& f_of_channels) const {
    if (extent == 1)
      for_rows({samples, channels}, begin, end, [&](const std::size_t* index, std::size_t n) {
        const std::size_t first = index[0] * channels + index[1];
        f_of_channels(index[1], first, first + n);
      });
    else
      for_rows({samples, channels, extent}, begin, end, [&](const std::size_t* index, std::size_t n) {
        const std::size_t first = (index[0] * channels + index[1]) * extent + index[2];
        f(index[1], first, first + n);
      });
  }
};

/// Two numbers that are summed in one pass.
template <class T> struct pair_of {
  T first, second;
};

/// `terms` defines the sums. `terms.of_channel(c)` is a functor that returns the summands of channel c at element index
/// i, as a pair_of<terms.value_type>; its inputs() and from_inputs() (detail/reduced_inputs.hpp) serve several elements
/// at a time. `combine(a, b)` adds b to a; any commutative and associative function with the neutral element
/// `neutral()` may replace the addition. `terms.store(c, pair)` stores the results.
template <class Terms> struct channel_plan {
  channel_shape shape;
  Terms terms;
};

/// Computes the sums on a backend's device, in the order of its current stream.
template <class Backend, class Terms> void sum_channels(int ordinal, const channel_shape& shape, const Terms& terms) {
  dispatch<op::channel_sums, Backend>(ordinal, channel_plan<Terms>{shape, terms});
}

}  // namespace devplace::detail

#include <devplace/backend/cpu/channel_sums.hpp>
#include DEVPLACE_BACKENDS(channel_sums)
