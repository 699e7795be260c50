// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/ops/embedding_gradient.hpp>
#include <devplace/place/backend.hpp>

namespace devplace::detail {

/// One warp per row of the table. It reads 32 indices at a time and adds, in order, the rows of dy whose index is the
/// warp's row: no atomics, and the same bits in every run. Each lane handles adjacent columns and reads them with one
/// access if memory is aligned and rows consist of whole accesses.
template <class T, class Gradient, class Index> struct embedding_gradient_kernel {
  static constexpr unsigned threads = 256;
  static constexpr unsigned warps = threads / 32;
  static constexpr unsigned columns_per_lane =
      width_of_sizes(std::min(sizeof(T), sizeof(Gradient)), std::max(sizeof(T), sizeof(Gradient)));

  embedding_gradient_arguments<T, Gradient, Index> g;

  std::size_t blocks() const { return divided_up(g.rows, warps); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const std::size_t stride = std::size_t{t.grid_size()} * warps;
    for (std::size_t row = std::size_t{t.block_index()} * warps + t.thread_index() / 32; row < g.rows; row += stride)
      for (std::size_t column = 0; column < g.columns; column += 32 * columns_per_lane) add_up(t, row, column);
  }

 private:
  /// A lane's columns: adjacent columns, or every 32nd column.
  struct lane_columns {
    std::size_t first;
    unsigned next;
  };

  /// Sums the lanes' columns from `begin` on.
  template <class Thread> DEVPLACE_DEVICE void add_up(Thread& t, std::size_t row, std::size_t begin) const {
    const unsigned lane = t.thread_index() % 32;
    const bool neighbours = g.columns % columns_per_lane == 0;
    const lane_columns columns{begin + (neighbours ? lane * columns_per_lane : lane), neighbours ? 1u : 32u};
    const bool packs = neighbours && is_aligned<columns_per_lane>(g.dy) && is_aligned<columns_per_lane>(g.gradient);
    Gradient* const to = g.gradient + row * g.columns;
    pack<Gradient, columns_per_lane> sums{};
    if (g.accumulate) each(columns, [&](unsigned k, std::size_t column) { sums.value[k] = to[column]; });
    for (std::size_t base = 0; base < g.count; base += 32) {
      unsigned found = base + lane < g.count && g.row_of(base + lane) == row ? 1u << lane : 0u;
      for (unsigned mask = 16; mask != 0; mask /= 2) found |= t.shuffle_xor(found, mask);
      for (unsigned at = 0; at < 32 && found >> at != 0; ++at) {
        if ((found >> at & 1u) == 0) continue;
        const T* const dy = g.dy + (base + at) * g.columns;
        pack<T, columns_per_lane> several{};
        if (packs && columns.first < g.columns) several = t.template load<T, columns_per_lane>(dy + columns.first);
        each(columns, [&](unsigned k, std::size_t column) {
          sums.value[k] += static_cast<Gradient>(packs ? several.value[k] : dy[column]);
        });
      }
    }
    if (packs) {
      if (columns.first < g.columns) t.store(to + columns.first, sums);
      return;
    }
    each(columns, [&](unsigned k, std::size_t column) { to[column] = sums.value[k]; });
  }

  template <class F> DEVPLACE_DEVICE void each(const lane_columns& columns, F f) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < columns_per_lane; ++k) {
      const std::size_t column = columns.first + k * columns.next;
      if (column < g.columns) f(k, column);
    }
  }
};

}  // namespace devplace::detail

namespace devplace {

template <> struct implementation<backend::cuda, op::embedding_gradient> {
  template <class T, class Gradient, class Index>
  static void run(int ordinal, const detail::embedding_gradient_arguments<T, Gradient, Index>& g) {
    const detail::embedding_gradient_kernel<T, Gradient, Index> kernel{g};
    detail::kernel_launch{ordinal}(kernel.blocks(), kernel);
  }
};

}  // namespace devplace
