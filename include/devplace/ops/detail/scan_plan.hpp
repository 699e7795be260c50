// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::op {

/// `run(ordinal, plan)`, a detail::scan_plan: cumulative sums or products of integers.
struct scan {};

}  // namespace devplace::op

namespace devplace::detail {

/// y[i] = x[0] + ... + x[i], or the product, modulo 2^64; if `Rows`, anew in each row of `columns` elements. y may be
/// x.
template <element T, bool Product = false, bool Rows = false> struct scan_plan {
  const T* x;
  std::int64_t* y;
  std::size_t size, columns = 0;
};

/// Whether a backend scans products and rows of integers, too, and not only sums of one row.
template <class Backend> inline constexpr bool scans_integers = false;

// Floating-point sums depend on the order of summation, and CUB's order may vary from run to run. The order is fixed
// here, on every place: sums of chunks, then cumulative sums of these sums, then a second pass over the chunks.
// Scans of integers that no backend's implementation takes use these three steps too.

/// Elements per thread: a cache line of a GPU.
inline constexpr std::size_t scan_chunk = 32;

/// Row-major elements outer x count x inner, scanned along `count`. Chunks are numbered like the elements of an array
/// outer x chunks x inner, so that adjacent threads read adjacent elements if inner is not 1.
struct scan_extents {
  std::size_t outer, count, inner;
  std::size_t chunks = divided_up(count, scan_chunk);

  constexpr std::size_t all_chunks() const { return outer * chunks * inner; }
  constexpr scan_extents of_chunks() const { return {outer, chunks, inner}; }

  /// Calls f with the index of each element of a chunk, in order.
  template <class F> DEVPLACE_HD void each_element(std::size_t chunk, const F& f) const {
    const std::size_t tile = quotient(chunk, inner), first = quotient(tile, chunks), begin = tile % chunks * scan_chunk;
    const std::size_t length = count - begin < scan_chunk ? count - begin : scan_chunk;
    std::size_t i = (first * count + begin) * inner + (chunk - tile * inner);
    for (std::size_t k = 0; k != length; ++k, i += inner) f(i);
  }
};

template <bool Product, class T> using scan_reducer_t = std::conditional_t<Product, product_reducer<T>, sum_reducer<T>>;

template <class T, bool Product> struct chunk_totals {
  using reducer = scan_reducer_t<Product, T>;
  const T* x;
  scan_extents extents;
  typename reducer::accumulator* totals;

  DEVPLACE_HD void operator()(std::size_t chunk) const {
    auto total = reducer::identity();
    extents.each_element(chunk, [&](std::size_t i) { reducer::add(total, x[i], 0); });
    totals[chunk] = total;
  }
};

/// Cumulative sums or products of each chunk, starting from the total of all previous chunks. `Inclusive`: whether y[i]
/// includes x[i].
template <class T, bool Product, bool Inclusive> struct chunk_scan {
  using reducer = scan_reducer_t<Product, T>;
  const T* x;
  scan_extents extents;
  const typename reducer::accumulator* before;  ///< null if there is only one chunk
  sum_result_t<T>* y;

  DEVPLACE_HD void operator()(std::size_t chunk) const {
    auto total = before == nullptr ? reducer::identity() : before[chunk];
    extents.each_element(chunk, [&](std::size_t i) {
      const auto exclusive = total;
      reducer::add(total, x[i], 0);
      y[i] = static_cast<sum_result_t<T>>(Inclusive ? total : exclusive);
    });
  }
};

}  // namespace devplace::detail
