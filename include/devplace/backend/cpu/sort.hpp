// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/sort_plan.hpp>

namespace devplace {

/// Sorts by comparison, with the position as tie-break: the in-place algorithm is not stable.
template <> struct implementation<backend::cpu, op::sort> {
  template <class T> static void run(int, const detail::sort_plan<T>& plan) {
    detail::parallel_indices(plan.rows, detail::row_grain(plan.columns, 16),
                             [&plan](std::size_t row) { sort_row(plan, row * plan.columns); });
  }

 private:
  template <class T> static void sort_row(const detail::sort_plan<T>& plan, std::size_t begin) {
    const auto first = plan.order + begin, last = first + plan.columns;
    std::iota(first, last, static_cast<std::int64_t>(begin));
    const auto before = [x = plan.x, descending = plan.descending](std::int64_t a, std::int64_t b) {
      const auto of_a = detail::sort_key(x[a], descending), of_b = detail::sort_key(x[b], descending);
      return of_a != of_b ? of_a < of_b : a < b;
    };
    if (plan.kept < plan.columns)
      std::partial_sort(first, first + plan.kept, last, before);
    else
      std::sort(first, last, before);
  }
};

}  // namespace devplace
