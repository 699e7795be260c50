// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/backend/cuda/kernels/reduction_layout.hpp>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/reduced_inputs.hpp>

// Reads the sources of reductions (ops/detail/reduced_inputs.hpp), several adjacent elements at a time.

namespace devplace::detail {

/// The pack at index `at`, of which elements [first, last) are reduced. The element at `at` is number `position` among
/// the elements of its result.
struct reduced_pack {
  std::size_t at, position;
  unsigned first, last;
};

/// Elements that a thread has loaded from a source: `element(of, w)` returns the summand of element w.
template <class Value> struct read_value {
  Value value;

  template <class Elements> DEVPLACE_DEVICE Value element(const Elements&, unsigned) const { return value; }
};
template <class A, unsigned N> struct read_pack {
  pack<A, N> a;

  template <class Elements> DEVPLACE_DEVICE auto element(const Elements& elements, unsigned w) const {
    return elements.from_inputs(a.value[w]);
  }
};
template <class A, class B, unsigned N> struct read_packs {
  pack<A, N> a;
  pack<B, N> b;

  template <class Elements> DEVPLACE_DEVICE auto element(const Elements& elements, unsigned w) const {
    return elements.from_inputs(a.value[w], b.value[w]);
  }
};

/// Describes a source's arrays: how many elements a thread takes (16 bytes of the smallest type, but 4 elements of 1
/// byte), whether such accesses are aligned, and how to read a pack. Other sources are read one element at a time.
template <class Inputs> struct reduced_inputs {
  static constexpr unsigned width = 1;
};
template <class A> struct reduced_inputs<one_input<A>> {
  static constexpr unsigned width = sizeof(A) == 1 ? 4 : widest_access<A>;

  static bool are_aligned(const one_input<A>& x) { return is_aligned<width>(x.a); }
  template <unsigned N> DEVPLACE_DEVICE static read_pack<A, N> read(const one_input<A>& x, const auto& read) {
    return {read(x.a)};
  }
};
template <class A, class B> struct reduced_inputs<two_inputs<A, B>> {
  static constexpr unsigned width = width_of_sizes(std::min(sizeof(A), sizeof(B)), std::max(sizeof(A), sizeof(B)));

  static bool are_aligned(const two_inputs<A, B>& x) { return is_aligned<width>(x.a) && is_aligned<width>(x.b); }
  template <unsigned N> DEVPLACE_DEVICE static read_packs<A, B, N> read(const two_inputs<A, B>& x, const auto& read) {
    return {read(x.a), read(x.b)};
  }
};

/// Returns the arrays of a source's elements; void if the elements do not come from arrays.
template <class Elements> auto inputs_of(const Elements& elements) {
  if constexpr (requires { elements.inputs(); }) return elements.inputs();
}

template <class Source> struct reduced_source {
  using elements = decltype(elements_of_result(std::declval<const Source&>(), 0));
  using inputs = reduced_inputs<decltype(inputs_of(std::declval<const elements&>()))>;
};

/// Reads a pack of a source's elements. `wide`: with wide accesses; packs then begin at multiples of their size.
template <unsigned N, class Thread, class Elements>
DEVPLACE_DEVICE auto read_elements(const Thread& t, const Elements& elements, const reduced_pack& reduced, bool wide) {
  if constexpr (requires { elements.inputs(); }) {
    const auto inputs = elements.inputs();
    const auto read = [&]<class T>(const T* array) {  // N elements, or only the reduced ones among them
      if (N > 1 && wide) return t.template load<T, N>(array + reduced.at);
      return pack_of<T, N>(
          [&](unsigned w) { return reduced.first <= w && w < reduced.last ? array[reduced.at + w] : T{}; });
    };
    return reduced_inputs<std::remove_const_t<decltype(inputs)>>::template read<N>(inputs, read);
  } else {
    using value = decltype(elements(0));
    return read_value<value>{reduced.last != 0 ? elements(reduced.at) : value{}};
  }
}

template <class Source, class Reducer>
struct reduction_plan;  // ops/detail/reduction_plan.hpp, which includes this file

/// The positions of the elements that are reduced to each result. Run `run` of result r begins at (run * results + r) *
/// length, so all elements are contiguous. Packs of `width` elements begin at multiples of `width`, even if a run
/// begins within a pack, so rows of any length are read with wide accesses. A run touches at most `packs` packs.
struct reduced_runs {
  std::size_t count, results, length, packs;

  static reduced_runs divide(std::size_t count, std::size_t results, std::size_t length, unsigned width) {
    const bool at_packs = count * results == 1 || length % width == 0;
    return {count, results, length, divided_up(at_packs || length == 0 ? length : length + width - 1, width)};
  }
  template <unsigned Width> DEVPLACE_HD reduced_pack pack(std::size_t result, std::size_t k) const {
    const std::size_t run = count == 1 ? 0 : quotient(k, packs);
    const std::size_t begin = (run * results + result) * length, end = begin + length;
    const std::size_t at = (begin / Width + (k - run * packs)) * Width;
    return {at, run * length + (at - begin), begin > at ? static_cast<unsigned>(begin - at) : 0,
            at >= end          ? 0
            : end - at < Width ? static_cast<unsigned>(end - at)
                               : Width};
  }
};

/// A reduction, distributed by its reduction_layout. With `Along`, inner is 1 and the reduced elements are contiguous
/// runs: a thread takes packs of Width elements and adds element w of each pack to accumulator w modulo 4. Otherwise a
/// thread takes Width adjacent columns. Adjacent threads read adjacent packs. The order of summation depends only on
/// the shape and types, not on whether packs are read with wide accesses (`wide`).
template <bool Along, class Source, class Reducer, unsigned Width> struct reduce_kernel {
  static constexpr unsigned threads = reduction_threads;
  // With more blocks nvcc 13.0 spills registers for packs of 8 elements and, with some reducers, for contiguous packs.
  static constexpr unsigned least_blocks = Width == 8 ? 1 : Along ? least_blocks_of<Reducer>() : 0;
  using accumulator = typename Reducer::accumulator;

  reduction_plan<Source, Reducer> plan;
  reduced_runs runs;
  std::size_t count;  // elements of a result; with Along, of all packs that contain them
  reduction_layout layout;
  bool wide;
  accumulator* partials;  // layout.columns * results per block; null if each set has one block
  unsigned* tickets;      // one per set, 0 between launches

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const unsigned in_group = t.thread_index() % layout.group_threads();
    const unsigned column = in_group % layout.columns, lane = in_group / layout.columns;
    for (std::size_t task = t.block_index(); task < layout.blocks(); task += t.grid_size()) {
      const std::size_t set = task / layout.chunks, begin = task % layout.chunks * layout.chunk;
      const std::size_t group = set * layout.groups_per_block() + t.thread_index() / layout.group_threads();
      const std::size_t inner = (group % layout.tiles * layout.columns + column) * results;
      const bool exists = group < layout.groups && inner < plan.inner;
      const std::size_t end = count - begin < layout.chunk ? count : begin + layout.chunk;
      accumulator sums[results];
      clear(sums);
      if (exists) add_elements(t, sums, group / layout.tiles, inner, begin, end, lane);
      merge_lanes(t, sums);
      if (layout.chunks > 1) {
        if (lane == 0) each_result([&](unsigned w) { t.publish(partial(task, column) + w, sums[w]); });
        if (!is_last_block(t, tickets + set, static_cast<unsigned>(layout.chunks))) continue;
        clear(sums);
        for (std::size_t k = lane; k < layout.chunks; k += layout.lanes)
          each_result(
              [&](unsigned w) { Reducer::merge(sums[w], t.observe(partial(set * layout.chunks + k, column) + w)); });
        merge_lanes(t, sums);
      }
      if (exists && lane == 0)
        each_result([&](unsigned w) { plan.reducer.store(group / layout.tiles * plan.inner + inner + w, sums[w]); });
    }
  }

 private:
  static constexpr unsigned results = Along ? 1 : Width;                             // per thread
  static constexpr unsigned accumulators = Along ? (Width < 4 ? Width : 4) : Width;  // per thread
  static constexpr unsigned at_once =
      Width < 8 ? 4 : 1;  // packs that a thread has in flight; of 16-bit elements, one pack of 16 bytes
  using elements = typename reduced_source<Source>::elements;

  struct thread_elements {
    elements of_result[results];

    DEVPLACE_DEVICE const elements& result(unsigned w) const { return of_result[results == 1 ? 0 : w]; }
  };
  template <unsigned... W>
  DEVPLACE_DEVICE thread_elements elements_from(std::size_t result, std::integer_sequence<unsigned, W...>) const {
    return {{elements_of_result(plan.source, result + W)...}};
  }

  template <class F> DEVPLACE_DEVICE static void each_result(const F& f) {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < results; ++w) f(w);
  }
  template <unsigned N> DEVPLACE_DEVICE static void clear(accumulator (&sums)[N]) {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < N; ++w) sums[w] = Reducer::identity();
  }
  DEVPLACE_DEVICE accumulator* partial(std::size_t task, unsigned column) const {
    return partials + (task * layout.columns + column) * results;
  }

  /// Reduces elements [begin, end) of a thread's results, in ascending order for each accumulator.
  DEVPLACE_DEVICE void add_elements(const auto& t, accumulator (&sums)[results], std::size_t outer, std::size_t inner,
                                    std::size_t begin, std::size_t end, unsigned lane) const {
    constexpr unsigned step = Along ? Width : 1;
    const thread_elements sources =
        elements_from(outer * plan.inner + inner, std::make_integer_sequence<unsigned, results>{});
    accumulator own[accumulators];
    clear(own);
    for (std::size_t k = begin + lane * step; k < end; k += std::size_t{layout.lanes} * step * at_once) {
      reduced_pack packs[at_once];
      decltype(read(t, sources, packs[0])) x[at_once];
      DEVPLACE_DEVICE_UNROLL
      for (unsigned i = 0; i < at_once; ++i) {
        const std::size_t at = k + std::size_t{layout.lanes} * step * i;
        packs[i] = at < end ? pack_at(outer, inner, at) : reduced_pack{};
        x[i] = read(t, sources, packs[i]);
      }
      DEVPLACE_DEVICE_UNROLL
      for (unsigned i = 0; i < at_once; ++i) {
        DEVPLACE_DEVICE_UNROLL
        for (unsigned w = 0; w < Width; ++w)
          if (packs[i].first <= w && w < packs[i].last)
            Reducer::add(own[w % accumulators], x[i].element(sources.result(w), w),
                         packs[i].position + (Along ? w : 0));
      }
    }
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < accumulators; ++w) Reducer::merge(sums[w % results], own[w]);
  }

  DEVPLACE_DEVICE reduced_pack pack_at(std::size_t outer, std::size_t inner, std::size_t k) const {
    if constexpr (Along)
      return runs.template pack<Width>(outer, k / Width);
    else
      return {(outer * plan.count + k) * plan.inner + inner, k, 0, Width};
  }
  /// Reads a pack; the last pack may be incomplete.
  DEVPLACE_DEVICE auto read(const auto& t, const thread_elements& sources, const reduced_pack& reduced) const {
    const bool complete = reduced.last != 0 && reduced.at + Width <= plan.outer * plan.count * plan.inner;
    return read_elements<Width>(t, sources.result(0), reduced, wide && complete);
  }

  /// Merges the accumulators of a group's lanes for each of its columns; lane 0 gets the result.
  template <class Thread> DEVPLACE_DEVICE void merge_lanes(Thread& t, accumulator (&sums)[results]) const {
    const unsigned group_threads = layout.group_threads();
    const unsigned span = group_threads < 32 ? group_threads : 32;
    for (unsigned mask = layout.columns; mask < span; mask *= 2)
      each_result([&](unsigned w) { Reducer::merge(sums[w], t.shuffle_xor(sums[w], mask)); });
    if (group_threads <= 32) return;
    const auto of_warps = t.template shared<accumulator, threads>();
    const unsigned thread = t.thread_index(), warp = thread / 32 * 32, column = thread % 32 * results;
    if (thread % 32 < layout.columns) each_result([&](unsigned w) { of_warps.store(warp + column + w, sums[w]); });
    t.sync();
    if (thread % group_threads < layout.columns)
      for (unsigned other = warp + 32; other < thread / group_threads * group_threads + group_threads; other += 32)
        each_result([&](unsigned w) { Reducer::merge(sums[w], of_warps.load(other + column + w)); });
    t.sync();  // before of_warps is used again
  }
};

/// Returns the kernel of a reduction with packs of Width. `partials` and `tickets` need space for most_partial_blocks *
/// most_block_columns accumulators and for most_partial_blocks tickets.
template <bool Along, unsigned Width, class Source, class Reducer>
reduce_kernel<Along, Source, Reducer, Width> make_reduce_kernel(const reduction_plan<Source, Reducer>& plan) {
  std::size_t length = plan.count;
  if constexpr (requires { plan.source.run_length(); }) length = plan.source.run_length();
  const auto runs = reduced_runs::divide(length == 0 ? 0 : plan.count / length, plan.outer, length, Width);
  const std::size_t count = Along ? runs.count * runs.packs * Width : plan.count;
  bool wide = false;
  if constexpr (Width > 1)
    wide = reduced_source<Source>::inputs::are_aligned(elements_of_result(plan.source, 0).inputs());
  return {plan, runs, count, reduction_layout_of(plan.outer, count, plan.inner, Width), wide, nullptr, nullptr};
}

/// Calls `launch(kernel)` with the kernel of a reduction. Columns of 16-bit elements are taken in packs if rows consist
/// of whole packs. Wider elements are taken one by one, since adjacent threads then read 128 bytes together.
template <bool Along, class Source, class Reducer, class Launch>
void with_reduce_kernel(const reduction_plan<Source, Reducer>& plan, const Launch& launch) {
  constexpr unsigned width = reduced_source<Source>::inputs::width;
  if constexpr (Along) {
    launch(make_reduce_kernel<true, width>(plan));
  } else {
    if constexpr (width == 8)
      if (plan.inner % width == 0) return launch(make_reduce_kernel<false, width>(plan));
    launch(make_reduce_kernel<false, 1>(plan));
  }
}

}  // namespace devplace::detail
