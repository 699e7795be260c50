// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/backend/cuda/kernels/reduction_layout.hpp>
#include <devplace/backend/cuda/pack.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

template <class Source, class Reducer>
struct reduction_plan;  // ops/detail/reduction_plan.hpp, which includes this file

/// A source whose elements are contiguous in memory.
template <class Source>
concept source_in_memory = requires(const Source& source) {
  source.contiguous();
};

/// Number of elements that a thread takes at a time: 16 bytes of float or double, at most 4 elements of smaller types.
template <class Source>
constexpr unsigned source_width() {
  if constexpr (source_in_memory<Source>) {
    constexpr unsigned widest =
        widest_access<std::remove_cvref_t<decltype(*std::declval<const Source&>().contiguous())>>;
    return widest < 4 ? widest : 4;
  } else {
    return 1;
  }
}

/// A reduction, distributed as its reduction_layout says. With `Along`, inner is 1 and the reduced elements are
/// contiguous; a thread takes source_width of them at a time, each into its own accumulator, even if it cannot read
/// them with one access (`wide`). Otherwise neighbouring threads read neighbouring columns.
template <bool Along, class Source, class Reducer>
struct reduce_kernel {
  static constexpr unsigned threads = reduction_threads;
  static constexpr unsigned width = Along ? source_width<Source>() : 1;
  using accumulator = typename Reducer::accumulator;

  reduction_plan<Source, Reducer> plan;
  reduction_layout layout;
  bool wide;
  accumulator* partials;  // layout.columns per block; null if each set has one block
  unsigned* tickets;      // one per set, 0 between launches

  template <class Thread>
  DEVPLACE_DEVICE void operator()(Thread& t) const {
    const unsigned in_group = t.thread_index() % layout.group_threads();
    const unsigned column = in_group % layout.columns, lane = in_group / layout.columns;
    for (std::size_t task = t.block_index(); task < layout.blocks(); task += t.grid_size()) {
      const std::size_t set = task / layout.chunks, begin = task % layout.chunks * layout.chunk;
      const std::size_t group = set * layout.groups_per_block() + t.thread_index() / layout.group_threads();
      const std::size_t inner = group % layout.tiles * layout.columns + column;
      const bool exists = group < layout.groups && inner < plan.inner;
      const std::size_t end = plan.count - begin < layout.chunk ? plan.count : begin + layout.chunk;
      accumulator sum = Reducer::identity();
      if (exists) sum = of_thread(t, group / layout.tiles, inner, begin, end, lane);
      merge_lanes(t, sum);
      if (layout.chunks > 1) {
        if (lane == 0) t.publish(partials + task * layout.columns + column, sum);
        if (!is_last_block(t, tickets + set, static_cast<unsigned>(layout.chunks))) continue;
        sum = Reducer::identity();
        for (std::size_t k = lane; k < layout.chunks; k += layout.lanes)
          Reducer::merge(sum, t.observe(partials + (set * layout.chunks + k) * layout.columns + column));
        merge_lanes(t, sum);
      }
      if (exists && lane == 0) plan.reducer.store(group / layout.tiles * plan.inner + inner, sum);
    }
  }

 private:
  static constexpr unsigned at_once = 4;  // accesses of a thread that are in flight together

  /// One thread's reduction of elements begin..end-1, in ascending order for each accumulator.
  template <class Thread>
  DEVPLACE_DEVICE accumulator of_thread(const Thread& t, std::size_t outer, std::size_t inner, std::size_t begin,
                                        std::size_t end, unsigned lane) const {
    using value = decltype(plan.source(0));
    accumulator sums[width];
    for (unsigned w = 0; w < width; ++w)
      sums[w] = Reducer::identity();
    const std::size_t base = outer * plan.count * plan.inner + inner;
    const std::size_t step = std::size_t{layout.lanes} * width;
    std::size_t k = begin + lane * width;
    for (; k + (at_once - 1) * step + width <= end; k += at_once * step) {
      value x[at_once][width];
      DEVPLACE_DEVICE_UNROLL
      for (unsigned i = 0; i < at_once; ++i)
        read(t, base, k + i * step, x[i]);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned i = 0; i < at_once; ++i)
        add(sums, x[i], k + i * step);
    }
    for (; k + width <= end; k += step) {
      value x[width];
      read(t, base, k, x);
      add(sums, x, k);
    }
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < width; ++w)
      if (k + w < end) Reducer::add(sums[w], plan.source(base + (k + w) * plan.inner), k + w);
    for (unsigned w = 1; w < width; ++w)
      Reducer::merge(sums[0], sums[w]);
    return sums[0];
  }

  template <class Value>
  DEVPLACE_DEVICE static void add(accumulator* sums, const Value* x, std::size_t position) {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < width; ++w)
      Reducer::add(sums[w], x[w], position + w);
  }

  template <class Thread, class Value>
  DEVPLACE_DEVICE void read(const Thread& t, std::size_t base, std::size_t k, Value* x) const {
    if constexpr (width > 1) {
      if (wide) {
        const pack<Value, width> several = t.template load<Value, width>(plan.source.contiguous() + base + k);
        DEVPLACE_DEVICE_UNROLL
        for (unsigned w = 0; w < width; ++w)
          x[w] = several.value[w];
        return;
      }
    }
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < width; ++w)
      x[w] = plan.source(base + (k + w) * (Along ? 1 : plan.inner));
  }

  /// Merges the accumulators of a group's lanes for each of its columns; lane 0 gets the result.
  template <class Thread>
  DEVPLACE_DEVICE void merge_lanes(Thread& t, accumulator& sum) const {
    const unsigned group_threads = layout.group_threads();
    const unsigned span = group_threads < 32 ? group_threads : 32;
    for (unsigned mask = layout.columns; mask < span; mask *= 2)
      Reducer::merge(sum, t.shuffle_xor(sum, mask));
    if (group_threads <= 32) return;
    const auto of_warps = t.template shared<accumulator, threads>();
    const unsigned thread = t.thread_index();
    if (thread % 32 < layout.columns) of_warps.store(thread, sum);
    t.sync();
    if (thread % group_threads < layout.columns)
      for (unsigned other = thread + 32; other < thread / group_threads * group_threads + group_threads; other += 32)
        Reducer::merge(sum, of_warps.load(other));
    t.sync();  // before of_warps is used again
  }
};

/// The kernel of a reduction. `partials` and `tickets` need space for most_partial_blocks * most_block_columns
/// accumulators and for most_partial_blocks tickets.
template <bool Along, class Source, class Reducer>
reduce_kernel<Along, Source, Reducer> make_reduce_kernel(const reduction_plan<Source, Reducer>& plan) {
  using kernel = reduce_kernel<Along, Source, Reducer>;
  bool wide = false;
  if constexpr (kernel::width > 1)
    wide = reinterpret_cast<std::uintptr_t>(plan.source.contiguous()) %
                   (kernel::width * sizeof(*plan.source.contiguous())) ==
               0 &&
           (plan.outer == 1 || plan.count % kernel::width == 0);
  return {plan, reduction_layout_of(plan.outer, plan.count, plan.inner, kernel::width), wide, nullptr, nullptr};
}

}  // namespace devplace::detail
