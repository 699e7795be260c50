// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/backend/cpu/detail/vector_loops.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/ops/detail/channel_sums.hpp>

namespace devplace {

/// Each thread sums whole channels. If channels are few, each thread sums blocks of a channel's elements instead; the
/// blocks depend only on the shape and are combined in order.
template <> struct implementation<backend::cpu, op::channel_sums> {
  template <class Terms> static void run(int, const detail::channel_plan<Terms>& plan) {
    const division parts(plan.shape);
    if (parts.blocks == 1) {
      const std::size_t work = plan.shape.count() * parts.width + 1;
      detail::parallel_indices(parts.groups, 1 + parallel_work / work,
                               [&](std::size_t group) { sum_group(plan, parts, group); });
    } else {
      for (std::size_t group = 0; group != parts.groups; ++group) sum_group(plan, parts, group);
    }
  }

 private:
  static constexpr std::size_t tile = 64;  // channels that are summed together if they are adjacent
  static constexpr std::size_t lanes = 8;  // accumulators per channel if a channel's elements are adjacent
  static constexpr std::size_t most_blocks = 32;
  static constexpr std::size_t parallel_work = 16384;  // minimum number of elements per thread

  struct division {
    std::size_t width, groups, block, blocks = 1;

    explicit division(const detail::channel_shape& s)
        : width(s.extent == 1 ? std::min(tile, s.channels) : 1),
          groups(detail::divided_up(s.channels, width)),
          block(s.count()) {
      if (groups >= 16 || s.count() * width < 4 * parallel_work) return;
      block = std::max(detail::divided_up(block, most_blocks), parallel_work / width);
      blocks = detail::divided_up(s.count(), block);
    }
    std::size_t first(std::size_t group) const { return group * width; }
    std::size_t channels(const detail::channel_shape& s, std::size_t group) const {
      return std::min(width, s.channels - first(group));
    }
  };

  /// Sums of the channels of a group.
  template <class Terms> struct accumulators {
    typename Terms::value_type first[tile], second[tile];
  };

  /// Sums the blocks of a group on different threads, inside a parallel operation on one.
  template <class Terms>
  static void sum_group(const detail::channel_plan<Terms>& plan, const division& parts, std::size_t group) {
    accumulators<Terms> sums[most_blocks];
    detail::parallel_indices(parts.blocks, 1, [&](std::size_t b) {
      detail::run_range(loops<Terms>{plan, parts, sums[b], group}, b * parts.block,
                        std::min((b + 1) * parts.block, plan.shape.count()));
    });
    for (std::size_t i = 0; i != parts.channels(plan.shape, group); ++i) {
      for (std::size_t b = 1; b != parts.blocks; ++b) {
        Terms::combine(sums[0].first[i], sums[b].first[i]);
        Terms::combine(sums[0].second[i], sums[b].second[i]);
      }
      plan.terms.store(parts.first(group) + i, {sums[0].first[i], sums[0].second[i]});
    }
  }

  template <class Terms> struct loops {
    const detail::channel_plan<Terms>& plan;
    const division& parts;
    accumulators<Terms>& sums;
    std::size_t group;

    /// Sums elements [begin, end) of each channel of the group, numbered across samples and positions.
    void range(std::size_t begin, std::size_t end) const {
      plan.shape.extent == 1 ? of_neighbours(begin, end) : of_channel(begin, end);
    }

   private:
    void of_neighbours(std::size_t begin, std::size_t end) const {
      const Terms terms = plan.terms;
      const std::size_t channel = parts.first(group), count = parts.channels(plan.shape, group);
      accumulators<Terms> own;
      std::fill_n(own.first, count, Terms::neutral());
      std::fill_n(own.second, count, Terms::neutral());
      for (std::size_t sample = begin; sample != end; ++sample) {
        const std::size_t row = sample * plan.shape.channels + channel;
        for (std::size_t i = 0; i < count; ++i)
          add(own.first[i], own.second[i], terms.of_channel(channel + i)(row + i));
      }
      std::copy_n(own.first, count, sums.first);
      std::copy_n(own.second, count, sums.second);
    }

    void of_channel(std::size_t begin, std::size_t end) const {
      const auto terms = plan.terms.of_channel(group);
      const std::size_t extent = plan.shape.extent;
      typename Terms::value_type first[lanes], second[lanes];
      std::fill_n(first, lanes, Terms::neutral());
      std::fill_n(second, lanes, Terms::neutral());
      for (std::size_t k = begin; k != end;) {
        const std::size_t sample = k / extent, position = k % extent, n = std::min(extent - position, end - k);
        const std::size_t base = (sample * plan.shape.channels + group) * extent + position;
        std::size_t i = 0;
        for (; i + lanes <= n; i += lanes)
          for (std::size_t lane = 0; lane < lanes; ++lane) add(first[lane], second[lane], terms(base + i + lane));
        for (std::size_t lane = 0; i < n; ++i, ++lane) add(first[lane], second[lane], terms(base + i));
        k += n;
      }
      for (std::size_t half = lanes / 2; half != 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane)
          add(first[lane], second[lane], {first[lane + half], second[lane + half]});
      sums.first[0] = first[0];
      sums.second[0] = second[0];
    }

    using value = typename Terms::value_type;
    static void add(value& first, value& second, const detail::pair_of<value>& x) {
      Terms::combine(first, x.first);
      Terms::combine(second, x.second);
    }
  };
};

}  // namespace devplace
