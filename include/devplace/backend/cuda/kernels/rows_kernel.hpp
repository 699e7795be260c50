// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/backend/cuda/kernels/reduction_layout.hpp>
#include <devplace/backend/cuda/kernels/row_values.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/ops/detail/exponential.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// Whether a row's exponentials replace its elements in registers for a second use; 16-bit elements would lose digits.
template <class T, class Access, class Values>
inline constexpr bool keeps_exponentials = Access::reads_once && std::is_same_v<typename Values::value_type, T>;

/// The maximum of those elements of a row that are not NaN, for sums over x - maximum. If the row is read once, its
/// maximum is known before the sums begin. Otherwise one pass computes maximum and sums (Milakov and Gimelshein 2018):
/// a thread uses the maximum of the elements that it has read so far, and corrects its sums when this maximum grows.
template <class T, bool ReadsOnce> struct row_maximum {
  T max = -infinity<T>;
  T shift = 0;  ///< what sums subtract: the maximum, or 0 while a longer row's maximum is -infinity

  /// Takes part of a row into account. If sums need a correction, calls rescale(factor, difference): sums of
  /// exp(x - shift) change by the factor, and each x - shift by the difference.
  DEVPLACE_DEVICE void include(const auto& group, const auto& part, const auto& rescale) {
    T largest = max;
    part.each([&largest](std::size_t, T v) { largest = v > largest ? v : largest; });
    if constexpr (ReadsOnce)
      max = shift = group.all_reduce(largest, take_larger{});
    else if (largest > max)
      replace(largest, rescale);
  }

  /// Replaces the maximum of a thread's elements by the row's.
  template <class Group, class Rescale> DEVPLACE_DEVICE void combine(const Group& group, const Rescale& rescale) {
    if constexpr (!ReadsOnce) replace(group.all_reduce(max, take_larger{}), rescale);
  }

 private:
  template <class Rescale> DEVPLACE_DEVICE void replace(T largest, const Rescale& rescale) {
    // Elements that are -infinity remain so.
    rescale(fast_exp<T>(max - largest), max == -infinity<T> ? T{0} : max - largest);
    max = shift = largest;
  }
};

// Kernels for functors of rows (ops/for_each.hpp). A functor that runs on a GPU has an overload
//
//   by_group(functor, access, group, row, exists)
//
// in <operation>.cuh. The threads of `group` process row number `row`. They get its elements from
// access.values(), together with elements of other rows, and write results by write(). If `exists` is false, there is
// no such row, but these threads still take part in the group's operations, which involve all lanes of a warp. For this
// reason, group operations must not stand in a branch that depends on the row.

/// Gives each row of at most Lanes * PerThread elements (PerThread 0: any length) `Lanes` threads of a warp or a block.
template <class Row, unsigned Lanes, unsigned PerThread> struct rows_kernel {
  static constexpr unsigned threads = Lanes < 128 ? 128 : Lanes;
  static constexpr unsigned rows_per_block = threads / Lanes;

  std::size_t rows;
  Row functor;

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const thread_group<Thread, Lanes> group(t);
    const std::size_t stride = std::size_t{t.grid_size()} * rows_per_block;
    for (std::size_t first = std::size_t{t.block_index()} * rows_per_block; first < rows; first += stride) {
      const std::size_t row = rows_per_block == 1 ? first : first + t.thread_index() / Lanes;
      by_group(functor, row_access<PerThread>{}, group, row, rows_per_block == 1 || row < rows);
    }
  }
};

/// A rows_kernel that then reduces `terms(row)`, which may read what the row's functor wrote. Each block merges its
/// rows' terms, and the last block merges the blocks' results.
template <class Row, unsigned Lanes, unsigned PerThread, class Terms, class Reducer> struct reduced_rows_kernel {
  using rows_type = rows_kernel<Row, Lanes, PerThread>;
  using accumulator = typename Reducer::accumulator;
  static constexpr unsigned threads = rows_type::threads;
  /// As many as an H100 runs concurrently; constant, because the number determines the order of summation.
  static constexpr std::size_t most_blocks = most_partial_blocks * reduction_threads / threads;

  rows_type rows;
  Terms terms;
  Reducer reducer;
  partial_results<accumulator> partials;  // one per block, and one ticket

  /// Returns how many blocks to launch where `rows` would take `all`.
  static std::size_t blocks(std::size_t all) { return std::clamp(all, std::size_t{1}, most_blocks); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const auto merged = [](accumulator a, const accumulator& b) {
      Reducer::merge(a, b);
      return a;
    };
    rows(t);
    t.sync();
    accumulator sum = Reducer::identity();
    if (t.thread_index() < 32) {  // a warp is enough, and the others have nothing to execute
      for (std::size_t k = t.thread_index(), row; (row = row_of_block(t, k)) < rows.rows; k += 32)
        Reducer::add(sum, terms(row), row);
      sum = lane_group<Thread, 32>(t).all_reduce(sum, merged);
    }
    if (t.grid_size() > 1) {
      if (t.thread_index() == 0) t.publish(partials.values + t.block_index(), sum);
      if (!is_last_block(t, partials.tickets, t.grid_size())) return;
      sum = Reducer::identity();
      for (unsigned k = t.thread_index(); k < t.grid_size(); k += threads)
        Reducer::merge(sum, t.observe(partials.values + k));
      sum = block_group<Thread, threads>(t).all_reduce(sum, merged);
    }
    if (t.thread_index() == 0) reducer.store(0, sum);
  }

 private:
  /// Returns number k of the rows that `rows` gives to this block.
  template <class Thread> DEVPLACE_DEVICE static std::size_t row_of_block(const Thread& t, std::size_t k) {
    constexpr unsigned at_once = rows_type::rows_per_block;
    return (t.block_index() + k / at_once * t.grid_size()) * at_once + k % at_once;
  }
};

/// Calls `launch` with a kernel that depends on the length of the rows. Short rows are held in registers and read once:
/// 4 lanes for up to 16 elements, 16 lanes for up to 128 and a warp for up to 1,024. Longer rows get a block each and
/// are read once per pass. If the length is static, only its kernel is compiled.
template <class Row, std::size_t Columns, class Launch>
void with_kernel(std::size_t rows, const row_functor<Row, Columns>& of_rows, const Launch& launch) {
  const std::size_t columns = of_rows.columns;
  const Row& functor = of_rows.f;
  const auto with = [&](const auto& kernel) { launch(divided_up(rows, kernel.rows_per_block), kernel); };
  constexpr auto possible = [](std::size_t least, std::size_t most) {
    return Columns == dyn || (least <= Columns && Columns <= most);
  };
  if constexpr (possible(0, 16))
    if (columns <= 16) return with(rows_kernel<Row, 4, 4>{rows, functor});
  if constexpr (possible(17, 128))
    if (columns <= 128) return with(rows_kernel<Row, 16, 8>{rows, functor});
  if constexpr (possible(129, 1024))
    if (columns <= 1024) return with(rows_kernel<Row, 32, 32>{rows, functor});
  if constexpr (possible(1025, dyn)) with(rows_kernel<Row, 512, 0>{rows, functor});
}

}  // namespace devplace::detail
