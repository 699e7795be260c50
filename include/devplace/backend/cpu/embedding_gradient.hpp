// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/parallel_ranges.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/embedding_gradient.hpp>

namespace devplace {

/// Threads compute different columns, so every sum is in the order of the indices.
template <> struct implementation<backend::cpu, op::embedding_gradient> {
  template <class T, class Gradient, class Index>
  static void run(int, const detail::embedding_gradient_arguments<T, Gradient, Index>& g) {
    constexpr std::size_t width = 32;
    const std::size_t blocks = detail::divided_up(g.columns, width);
    detail::parallel_ranges(blocks, 1 + 4096 / (g.count + g.rows + 1), [&](std::size_t first, std::size_t last) {
      const std::size_t begin = first * width, end = std::min(last * width, g.columns);
      for (std::size_t row = 0; row < g.rows && !g.accumulate; ++row)
        std::fill(g.gradient + row * g.columns + begin, g.gradient + row * g.columns + end, Gradient{0});
      for (std::size_t i = 0; i < g.count; ++i) {
        if (g.row_of(i) >= g.rows) continue;
        Gradient* const sum = g.gradient + g.row_of(i) * g.columns;
        const T* const dy = g.dy + i * g.columns;
        detail::independent_loop(begin, end, [=](std::size_t k) { sum[k] += static_cast<Gradient>(dy[k]); });
      }
    });
  }
};

}  // namespace devplace
