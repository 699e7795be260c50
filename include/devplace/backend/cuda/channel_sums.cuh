// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/detail/channel_sums.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

namespace devplace::detail {

/// The summands of channels as a reduction source; indexed by the element number in the whole array.
template <class Terms> struct channel_source {
  std::size_t extent;
  Terms terms;

  DEVPLACE_HD auto of_result(std::size_t channel) const { return terms.of_channel(channel); }
  std::size_t run_length() const { return extent; }
};

template <class Terms> struct channel_reducer {
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

/// Returns the sums of channels as a reduction of outer x count x inner elements. With extent 1, channels are adjacent
/// in memory; otherwise each channel's elements are runs of length `extent`.
template <class Terms>
reduction_plan<channel_source<Terms>, channel_reducer<Terms>> channel_reduction(const channel_shape& s,
                                                                                const Terms& terms) {
  const bool adjacent = s.extent == 1;
  return {adjacent ? 1 : s.channels, s.count(), adjacent ? s.channels : 1, {s.extent, terms}, {terms}};
}

}  // namespace devplace::detail

namespace devplace {

template <> struct implementation<backend::cuda, op::channel_sums> {
  template <class Terms> static void run(int ordinal, const detail::channel_plan<Terms>& plan) {
    detail::reduce<backend::cuda>(ordinal, detail::channel_reduction(plan.shape, plan.terms));
  }
};

}  // namespace devplace
