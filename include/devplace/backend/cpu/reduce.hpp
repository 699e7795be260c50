// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <devplace/backend/cpu/detail/reduced_block.hpp>
#include <devplace/backend/cpu/detail/vector_loops.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

namespace devplace::detail {

/// The functions of a reduction that depend on its source and reducer; `plan` is a reduction_plan. If `adds_floats`,
/// reduce() takes adjacent blocks of one sum like groups of a block's length.
template <class Accumulator> struct reduction_functions {
  bool adds_floats;
  void (*reduce)(const void* plan, const reduced_groups& groups, std::size_t begin, std::size_t end,
                 Accumulator* results, std::size_t first, std::size_t last);
  void (*merge)(Accumulator* to, const Accumulator* from, std::size_t count);
  void (*store)(const void* plan, const reduced_groups& groups, const Accumulator* results, std::size_t group);
};

template <class Source, class Reducer>
inline constexpr reduction_functions<typename Reducer::accumulator> reduction_functions_of{
    reduces_floats<Source, Reducer> && requires { Reducer::adds_values; },
    [](const void* plan, const reduced_groups& groups, std::size_t begin, std::size_t end,
       typename Reducer::accumulator* results, std::size_t first, std::size_t last) {
      const auto& of = *static_cast<const reduction_plan<Source, Reducer>*>(plan);
      const reduced_block<Source, Reducer> part{of, groups, begin, end, results};
      if constexpr (reduces_floats<Source, Reducer>) {
        if (of.inner != 1 || end - begin >= 2 * groups.lanes) {
          for (std::size_t done; first != last; first += done) {
            done = part.reduced_floats(first, last);
            if (done == 0) run_range(part, first, first + ++done);
          }
        }
      }
      run_range(part, first, last);
    },
    [](typename Reducer::accumulator* to, const typename Reducer::accumulator* from, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) Reducer::merge(to[i], from[i]);
    },
    [](const void* plan, const reduced_groups& groups, const typename Reducer::accumulator* results,
       std::size_t group) {
      groups.store(static_cast<const reduction_plan<Source, Reducer>*>(plan)->reducer, results, group);
    }};

/// The order in which blocks are reduced and combined, compiled once for each type of accumulators.
template <class Accumulator> class blocked_reduction {
 public:
  blocked_reduction(const reduction_functions<Accumulator>& functions, const void* plan, std::size_t outer,
                    std::size_t count, std::size_t inner)
      : functions_(functions), plan_(plan), groups_{outer, inner}, count_(count), chunk_(count) {
    // If sums are few and long, each is split. The split depends only on the shape, because the bits must not depend
    // on the number of threads.
    const std::size_t width = groups_.width();
    if (groups_.count() >= 16 || count * width < 4 * parallel_work) return;
    chunk_ = padded_to(std::max(divided_up(count, partials / width), parallel_work / width), groups_.block());
    chunks_ = divided_up(count, chunk_);
  }

  void run() const;

 private:
  static constexpr std::size_t partials = 2048;        // accumulators on the stack
  static constexpr std::size_t parallel_work = 16384;  // minimum number of elements per thread

  void whole(std::size_t first, std::size_t last) const {
    if (count_ <= groups_.block()) return functions_.reduce(plan_, groups_, 0, count_, nullptr, first, last);
    for (std::size_t group = first; group != last; ++group) {
      Accumulator results[reduced_groups::tile];
      reduce(results, group, 0, count_);
      functions_.store(plan_, groups_, results, group);
    }
  }

  void in_chunks(std::size_t group) const {
    Accumulator results[partials];
    const std::size_t width = groups_.width();
    parallel_indices(chunks_, 1, [&](std::size_t c) {
      reduce(results + c * width, group, c * chunk_, std::min((c + 1) * chunk_, count_));
    });
    for (std::size_t step = 1; step < chunks_; step *= 2) {
      for (std::size_t c = 0; c + step < chunks_; c += 2 * step)
        functions_.merge(results + c * width, results + (c + step) * width, width);
    }
    functions_.store(plan_, groups_, results, group);
  }

  /// Reduces positions [begin, end) of each group, halving the range recursively down to blocks. One call adds whole
  /// blocks of floats: processors read less ahead across the instructions of a call for each, up to a fifth slower.
  [[gnu::noinline]] void reduce(Accumulator* results, std::size_t group, std::size_t begin, std::size_t end) const {
    const std::size_t unit = groups_.block(), units = divided_up(end - begin, unit);
    if (units <= 1) return functions_.reduce(plan_, groups_, begin, end, results, group, group + 1);
    Accumulator right[reduced_groups::tile];
    if constexpr (std::is_same_v<Accumulator, double>) {
      if (functions_.adds_floats && groups_.inner == 1 && units <= groups_.tile && end - begin == units * unit) {
        functions_.reduce(plan_, groups_, begin, begin + unit, right, group, group + units);
        merge_halves(right, units);
        *results = *right;
        return;
      }
    }
    const std::size_t middle = begin + units / 2 * unit;
    reduce(results, group, begin, middle);
    reduce(right, group, middle, end);
    functions_.merge(results, right, groups_.columns(group));
  }

  // Not inlined: g++ would expand the recursive calls into 2 KB of code in each caller.
  [[gnu::noinline]] void merge_halves(Accumulator* blocks, std::size_t count) const {
    if (count == 1) return;
    merge_halves(blocks, count / 2);
    merge_halves(blocks + count / 2, count - count / 2);
    functions_.merge(blocks, blocks + count / 2, 1);
  }

  const reduction_functions<Accumulator>& functions_;
  const void* plan_;
  reduced_groups groups_;
  std::size_t count_;
  std::size_t chunk_;  // elements along the axis that one thread reduces
  std::size_t chunks_ = 1;
};

template <class Accumulator> void blocked_reduction<Accumulator>::run() const {
  if (chunks_ == 1) {
    const std::size_t group_work = count_ * groups_.width() + 1;
    parallel_ranges(groups_.count(), 1 + parallel_work / group_work,
                    [&](std::size_t begin, std::size_t end) { whole(begin, end); });
  } else if (groups_.count() >= 2 * static_cast<std::size_t>(thread_count())) {
    parallel_indices(groups_.count(), 1, [&](std::size_t group) { in_chunks(group); });  // in_chunks on one thread
  } else {
    for (std::size_t group = 0; group < groups_.count(); ++group) in_chunks(group);
  }
}

}  // namespace devplace::detail

namespace devplace {

/// Reduces blocks of fixed size and combines them pairwise in a fixed order. The rounding error of a sum grows with the
/// logarithm of the number of elements. The bits depend neither on the division of blocks among threads nor on the
/// processor's instructions. Does not allocate.
template <> struct implementation<backend::cpu, op::reduce> {
  template <class Source, class Reducer> static void run(int, const detail::reduction_plan<Source, Reducer>& p) {
    detail::blocked_reduction(detail::reduction_functions_of<Source, Reducer>, &p, p.outer, p.count, p.inner).run();
  }
};

}  // namespace devplace
