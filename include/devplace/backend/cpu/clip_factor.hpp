// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <devplace/backend/cpu/detail/instruction_sets.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/parallel_ranges.hpp>
#include <devplace/runtime/clip_factor.hpp>

namespace devplace {

/// Adds blocks of gradients in any order, because sums of integers do not depend on it.
template <> struct implementation<backend::cpu, op::clip_factor> {
  template <class T> static void run(int, const runtime::gradient_squares<T>& g) {
    constexpr std::size_t block = 4096;
    const runtime::exact_squares<T> squares(g.integers[0]);
    std::atomic<std::uint64_t> high{0}, low{0};
    detail::parallel_ranges(detail::divided_up(g.n, block), 4, [&](std::size_t begin, std::size_t end) {
      runtime::square_sum sum{};
      for (std::size_t at = begin * block; at < end * block && at < g.n; at += block)
        detail::with_instruction_set(
            [&](auto code) { sum.add(code.sum_of(squares, g.gradients + at, g.n - at < block ? g.n - at : block)); });
      high += sum.high;
      low += sum.low;
    });
    g.store(0, {high, low});
  }
};

}  // namespace devplace
