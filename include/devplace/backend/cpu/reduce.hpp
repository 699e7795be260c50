// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/place/thread_team.hpp>

namespace devplace {

/// Blocks of fixed size, combined pairwise in a fixed order: the rounding error of a sum grows with the logarithm of
/// the number of elements, and the bits do not depend on which thread computes which block. Does not allocate.
template <>
struct implementation<backend::cpu, op::reduce> {
  template <class Source, class Reducer>
  static void run(int, const detail::reduction_plan<Source, Reducer>& plan) {
    const blocked_reduction<Source, Reducer> all(plan);
    if (all.chunks == 1) {
      const std::size_t group_work = plan.count * all.width + 1;
      detail::parallel_for(all.groups, 1 + parallel_work / group_work, [&](std::size_t begin, std::size_t end) {
        for (std::size_t group = begin; group != end; ++group)
          all.whole(group);
      });
    } else {
      for (std::size_t group = 0; group < all.groups; ++group)
        all.in_chunks(group);
    }
  }

 private:
  static constexpr std::size_t tile = 64;              // neighbouring results that are computed together
  static constexpr std::size_t lanes = 8;              // accumulators per result if there is one result
  static constexpr std::size_t block = 128;            // elements of one accumulator chain
  static constexpr std::size_t partials = 2048;        // accumulators on the stack
  static constexpr std::size_t parallel_work = 16384;  // elements that justify a thread

  template <class Source, class Reducer>
  struct blocked_reduction {
    using accumulator = typename Reducer::accumulator;

    const detail::reduction_plan<Source, Reducer>& plan;
    std::size_t width;   // results in a group
    std::size_t tiles;   // groups per index of the outer axis
    std::size_t groups;  // total number of groups
    std::size_t chunk;   // elements along the axis that one thread reduces
    std::size_t chunks = 1;

    explicit blocked_reduction(const detail::reduction_plan<Source, Reducer>& p)
        : plan(p),
          width(p.inner < tile ? p.inner : tile),
          tiles((p.inner + tile - 1) / tile),
          groups(p.outer * tiles),
          chunk(p.count) {
      // A few long sums are split, depending on their shape only: the bits must not depend on the number of threads.
      if (groups >= 16 || p.count * width < 4 * parallel_work) return;
      const std::size_t fits = partials / width;
      const std::size_t least = (p.count + fits - 1) / fits;
      const std::size_t wanted = parallel_work / width;
      chunk = ((least < wanted ? wanted : least) + block - 1) / block * block;
      chunks = (p.count + chunk - 1) / chunk;
    }

    void whole(std::size_t group) const {
      accumulator result[tile];
      reduce(result, group, 0, plan.count);
      store(result, group);
    }

    void in_chunks(std::size_t group) const {
      accumulator results[partials];
      detail::parallel_for(chunks, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t c = begin; c != end; ++c) {
          const std::size_t last = (c + 1) * chunk;
          reduce(results + c * width, group, c * chunk, last < plan.count ? last : plan.count);
        }
      });
      for (std::size_t step = 1; step < chunks; step *= 2) {
        for (std::size_t c = 0; c + step < chunks; c += 2 * step) {
          for (std::size_t i = 0; i < width; ++i)
            Reducer::merge(results[c * width + i], results[(c + step) * width + i]);
        }
      }
      store(results, group);
    }

   private:
    // Groups are numbered by tiles within each index of the outer axis.
    std::size_t first_column(std::size_t group) const { return group % tiles * tile; }
    std::size_t columns(std::size_t group) const {
      const std::size_t rest = plan.inner - first_column(group);
      return rest < tile ? rest : tile;
    }

    void store(const accumulator* results, std::size_t group) const {
      const std::size_t first = group / tiles * plan.inner + first_column(group);
      for (std::size_t i = 0; i < columns(group); ++i)
        plan.reducer.store(first + i, results[i]);
    }

    /// Reduces positions begin..end-1 of a group, halving the range recursively down to blocks.
    void reduce(accumulator* results, std::size_t group, std::size_t begin, std::size_t end) const {
      const std::size_t chain = plan.inner == 1 ? lanes * block : block;
      if (end - begin <= chain) {
        if (plan.inner == 1)
          *results = along_memory(group, begin, end);
        else
          across_memory(results, group, begin, end);
        return;
      }
      const std::size_t chains = (end - begin + chain - 1) / chain;
      const std::size_t middle = begin + chains / 2 * chain;
      accumulator right[tile];
      reduce(results, group, begin, middle);
      reduce(right, group, middle, end);
      for (std::size_t i = 0; i < columns(group); ++i)
        Reducer::merge(results[i], right[i]);
    }

    accumulator along_memory(std::size_t group, std::size_t begin, std::size_t end) const {
      const Source source = plan.source;
      const std::size_t base = group * plan.count;
      accumulator sums[lanes];
      for (std::size_t lane = 0; lane < lanes; ++lane)
        sums[lane] = Reducer::identity();
      std::size_t k = begin;
      for (; k + lanes <= end; k += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane)
          Reducer::add(sums[lane], source(base + k + lane), k + lane);
      }
      for (std::size_t lane = 0; k < end; ++k, ++lane)
        Reducer::add(sums[lane], source(base + k), k);
      for (std::size_t half = lanes / 2; half != 0; half /= 2) {
        for (std::size_t lane = 0; lane < half; ++lane)
          Reducer::merge(sums[lane], sums[lane + half]);
      }
      return sums[0];
    }

    void across_memory(accumulator* results, std::size_t group, std::size_t begin, std::size_t end) const {
      const Source source = plan.source;
      const std::size_t n = columns(group);
      accumulator sums[tile];
      for (std::size_t i = 0; i < n; ++i)
        sums[i] = Reducer::identity();
      for (std::size_t k = begin; k != end; ++k) {
        const std::size_t row = (group / tiles * plan.count + k) * plan.inner + first_column(group);
        for (std::size_t i = 0; i < n; ++i)
          Reducer::add(sums[i], source(row + i), k);
      }
      for (std::size_t i = 0; i < n; ++i)
        results[i] = sums[i];
    }
  };
};

}  // namespace devplace
