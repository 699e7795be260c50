// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/detail/channel_sums.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

namespace devplace::detail {

/// The summands of channels as the source of a reduction. `Neighbours`: channels are neighbours in memory, and element
/// i of the source is element i of all; otherwise the source has the elements of the channels one after the other.
template <bool Neighbours, class Terms>
struct channel_source {
  channel_shape shape;
  Terms terms;

  DEVPLACE_HD auto operator()(std::size_t i) const {
    if constexpr (Neighbours) {
      return terms.of_channel(shape.channel_of(i))(i);
    } else {
      const std::size_t channel = shape.quotient(i, shape.count()), k = i - channel * shape.count();
      const std::size_t sample = shape.quotient(k, shape.extent), position = k - sample * shape.extent;
      return terms.of_channel(channel)((sample * shape.channels + channel) * shape.extent + position);
    }
  }
};

template <class Terms>
struct channel_reducer {
  using accumulator = pair_of<typename Terms::value_type>;
  Terms terms;

  DEVPLACE_HD static constexpr accumulator identity() { return {Terms::neutral(), Terms::neutral()}; }
  DEVPLACE_HD static constexpr void add(accumulator& a, const accumulator& x, std::size_t) { merge(a, x); }
  DEVPLACE_HD static constexpr void merge(accumulator& a, const accumulator& b) {
    Terms::combine(a.first, b.first);
    Terms::combine(a.second, b.second);
  }
  DEVPLACE_HD void store(std::size_t channel, const accumulator& sums) const { terms.store(channel, sums); }
};

/// The sums of channels as a reduction of outer x count x inner elements.
template <bool Neighbours, class Terms>
reduction_plan<channel_source<Neighbours, Terms>, channel_reducer<Terms>> channel_reduction(const channel_shape& s,
                                                                                            const Terms& terms) {
  return {Neighbours ? 1 : s.channels, s.count(), Neighbours ? s.channels : 1, {s, terms}, {terms}};
}

}  // namespace devplace::detail
