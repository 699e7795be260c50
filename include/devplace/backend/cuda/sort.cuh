// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/radix_sort.cuh>
#include <devplace/ops/detail/sort_plan.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace {

namespace detail {

template <class T> struct key_of_element {
  sort_key_t<T>* keys;
  std::int64_t* order;
  const T* x;
  bool descending;

  DEVPLACE_HD void operator()(std::size_t i) const {
    keys[i] = sort_key(x[i], descending);
    order[i] = static_cast<std::int64_t>(i);
  }
};

struct key_of_row {
  std::uint32_t* keys;
  const std::int64_t* order;
  std::size_t columns;

  DEVPLACE_HD void operator()(std::size_t i) const {
    keys[i] = static_cast<std::uint32_t>(static_cast<std::size_t>(order[i]) / columns);
  }
};

}  // namespace detail

/// Sorts all rows at once: by element, then by row number with a stable sort, which keeps the order within each row.
template <> struct implementation<backend::cuda, op::sort> {
  template <class T> static void run(int ordinal, const detail::sort_plan<T>& plan) {
    using key = detail::sort_key_t<T>;
    const std::size_t n = plan.rows * plan.columns;
    const detail::memory_block memory =
        detail::allocate<backend::cuda>(ordinal, 2 * n * sizeof(key), memory_purpose::workspace);
    const auto keys = static_cast<key*>(memory.data());
    detail::for_each_index<backend::cuda>(ordinal, n, 1,
                                          detail::key_of_element<T>{keys, plan.order, plan.x, plan.descending});
    detail::cuda_radix_sort(ordinal, n, keys, plan.order, detail::sort_key_bits<T>);
    if (plan.rows == 1) return;
    const auto rows = static_cast<std::uint32_t*>(memory.data());
    detail::for_each_index<backend::cuda>(ordinal, n, 1, detail::key_of_row{rows, plan.order, plan.columns});
    detail::cuda_radix_sort(ordinal, n, rows, plan.order, static_cast<int>(std::bit_width(plan.rows - 1)));
  }
};

}  // namespace devplace
