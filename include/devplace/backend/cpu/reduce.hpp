// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/reduced_block.hpp>
#include <devplace/backend/cpu/detail/vector_loops.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

namespace devplace {

/// Reduces blocks of fixed size and combines them pairwise in a fixed order. The rounding error of a sum grows with the
/// logarithm of the number of elements. The bits depend neither on the division of blocks among threads nor on the
/// processor's instructions. Does not allocate.
template <> struct implementation<backend::cpu, op::reduce> {
  template <class Source, class Reducer> static void run(int, const detail::reduction_plan<Source, Reducer>& plan) {
    const blocked_reduction<Source, Reducer> all(plan);
    if (all.chunks == 1) {
      const std::size_t group_work = plan.count * all.groups.width() + 1;
      detail::parallel_ranges(all.groups.count(), 1 + parallel_work / group_work,
                              [&](std::size_t begin, std::size_t end) { all.whole(begin, end); });
    } else {
      for (std::size_t group = 0; group < all.groups.count(); ++group) all.in_chunks(group);
    }
  }

 private:
  static constexpr std::size_t partials = 2048;        // accumulators on the stack
  static constexpr std::size_t parallel_work = 16384;  // minimum number of elements per thread

  template <class Source, class Reducer> struct blocked_reduction {
    using accumulator = typename Reducer::accumulator;
    using block = detail::reduced_block<Source, Reducer>;

    const detail::reduction_plan<Source, Reducer>& plan;
    detail::reduced_groups groups;
    std::size_t chunk;  // elements along the axis that one thread reduces
    std::size_t chunks = 1;

    explicit blocked_reduction(const detail::reduction_plan<Source, Reducer>& p)
        : plan(p), groups{p.outer, p.inner}, chunk(p.count) {
      // If sums are few and long, each is split. The split depends only on the shape, because the bits must not depend
      // on the number of threads.
      const std::size_t width = groups.width();
      if (groups.count() >= 16 || p.count * width < 4 * parallel_work) return;
      const std::size_t fits = partials / width;
      const std::size_t least = detail::divided_up(p.count, fits);
      const std::size_t wanted = parallel_work / width;
      const std::size_t unit = groups.block();
      chunk = detail::padded_to(least < wanted ? wanted : least, unit);
      chunks = detail::divided_up(p.count, chunk);
    }

    void whole(std::size_t first, std::size_t last) const {
      if (plan.count <= groups.block())
        return detail::run_range(block{plan, groups, 0, plan.count, nullptr}, first, last);
      for (std::size_t group = first; group != last; ++group) {
        accumulator results[detail::reduced_groups::tile];
        reduce(results, group, 0, plan.count);
        groups.store(plan.reducer, results, group);
      }
    }

    void in_chunks(std::size_t group) const {
      accumulator results[partials];
      const std::size_t width = groups.width();
      detail::parallel_indices(chunks, 1, [&](std::size_t c) {
        const std::size_t last = (c + 1) * chunk;
        reduce(results + c * width, group, c * chunk, last < plan.count ? last : plan.count);
      });
      for (std::size_t step = 1; step < chunks; step *= 2) {
        for (std::size_t c = 0; c + step < chunks; c += 2 * step) {
          for (std::size_t i = 0; i < width; ++i)
            Reducer::merge(results[c * width + i], results[(c + step) * width + i]);
        }
      }
      groups.store(plan.reducer, results, group);
    }

   private:
    /// Reduces positions [begin, end) of each group, halving the range recursively down to blocks.
    [[gnu::noinline]] void reduce(accumulator* results, std::size_t group, std::size_t begin, std::size_t end) const {
      const std::size_t unit = groups.block();
      if (end - begin <= unit) return detail::run_range(block{plan, groups, begin, end, results}, group, group + 1);
      const std::size_t middle = begin + detail::divided_up(end - begin, unit) / 2 * unit;
      accumulator right[detail::reduced_groups::tile];
      reduce(results, group, begin, middle);
      reduce(right, group, middle, end);
      for (std::size_t i = 0; i < groups.columns(group); ++i) Reducer::merge(results[i], right[i]);
    }
  };
};

}  // namespace devplace
