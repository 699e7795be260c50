// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/ops/take_rows.hpp>
#include <devplace/place/backend.hpp>

namespace devplace::detail {

/// Writes several elements of one row from element i of the result on.
template <class T, class Index> struct wide_form<row_taker<T, Index>> {
  static constexpr unsigned width = widest_access<T>;
  row_taker<T, Index> f;

  bool is_wide() const { return f.columns % width == 0 && is_aligned<width>(f.from) && is_aligned<width>(f.to); }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    const std::size_t row = i / f.columns;
    if (!f.exists(row))
      t.store(f.to + i, pack_of<T, width>([](unsigned) { return no_element<T>(); }));
    else if (!f.skips(row))
      t.store(f.to + i, t.template load<T, width>(f.from + f.source(row) * f.columns + i % f.columns));
  }
};

}  // namespace devplace::detail

namespace devplace {

template <> struct implementation<backend::cuda, op::take_rows> {
  template <class T, class Index> static void run(int ordinal, const detail::row_taker<T, Index>& take) {
    const auto kernel = detail::make_kernel(take.count * take.columns, take);
    if (kernel.n != 0) detail::kernel_launch{ordinal}(kernel.blocks(), kernel);
  }
};

}  // namespace devplace
