// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/embedding_gradient.hpp>

namespace devplace::detail {

/// A warp for each row of the table: it reads 32 indices at a time and adds the rows of dy whose index is its own, in
/// order, so that the sums need no atomic operations and have the same bits in every run.
template <class T, class Gradient, class Index>
struct embedding_gradient_kernel {
  static constexpr unsigned threads = 256;
  static constexpr unsigned warps = threads / 32;
  static constexpr unsigned columns_per_lane = 4;

  embedding_gradient_arguments<T, Gradient, Index> g;

  std::size_t blocks() const { return (g.rows + warps - 1) / warps; }

  template <class Thread>
  DEVPLACE_DEVICE void operator()(Thread& t) const {
    const std::size_t stride = std::size_t{t.grid_size()} * warps;
    for (std::size_t row = std::size_t{t.block_index()} * warps + t.thread_index() / 32; row < g.rows; row += stride)
      for (std::size_t column = 0; column < g.columns; column += 32 * columns_per_lane)
        add_up(t, row, column + t.thread_index() % 32);
  }

 private:
  /// The sums of columns `first`, first + 32 and so on.
  template <class Thread>
  DEVPLACE_DEVICE void add_up(Thread& t, std::size_t row, std::size_t first) const {
    const unsigned lane = t.thread_index() % 32;
    Gradient* const to = g.gradient + row * g.columns;
    Gradient sums[columns_per_lane] = {};
    if (g.accumulate) each(first, [&](unsigned k, std::size_t column) { sums[k] = to[column]; });
    for (std::size_t base = 0; base < g.count; base += 32) {
      unsigned found = base + lane < g.count && g.row_of(base + lane) == row ? 1u << lane : 0u;
      for (unsigned mask = 16; mask != 0; mask /= 2)
        found |= t.shuffle_xor(found, mask);
      for (unsigned at = 0; at < 32 && found >> at != 0; ++at) {
        if ((found >> at & 1u) == 0) continue;
        const T* const dy = g.dy + (base + at) * g.columns;
        each(first, [&](unsigned k, std::size_t column) { sums[k] += static_cast<Gradient>(dy[column]); });
      }
    }
    each(first, [&](unsigned k, std::size_t column) { to[column] = sums[k]; });
  }

  template <class F>
  DEVPLACE_DEVICE void each(std::size_t first, F f) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < columns_per_lane; ++k) {
      if (first + 32 * k < g.columns) f(k, first + 32 * k);
    }
  }
};

}  // namespace devplace::detail
