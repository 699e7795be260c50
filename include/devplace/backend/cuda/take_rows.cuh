// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/ops/detail/row_taker.hpp>
#include <devplace/place/backend.hpp>

namespace devplace::detail {

/// The body of wide_kernel for take_rows: writes element i of the result, or several elements of one row from i on.
template <class T, class Index> struct wide_row_taker {
  static constexpr unsigned width = widest_access<T>;
  row_taker<T, Index> take;

  bool is_wide() const {
    return take.columns % width == 0 && is_aligned<width>(take.from) && is_aligned<width>(take.to);
  }

  DEVPLACE_DEVICE void one(std::size_t i) const {
    const std::size_t row = i / take.columns;
    take.to[i] = take.exists(row) ? take.from[take.source(row) * take.columns + i % take.columns] : no_element<T>();
  }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    const std::size_t row = i / take.columns;
    pack<T, width> elements;
    if (take.exists(row)) {
      elements = t.template load<T, width>(take.from + take.source(row) * take.columns + i % take.columns);
    } else {
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < width; ++k) elements.value[k] = no_element<T>();
    }
    t.store(take.to + i, elements);
  }
};

template <class T, class Index> auto make_take_rows_kernel(const row_taker<T, Index>& take) {
  return make_wide_kernel(take.count * take.columns, wide_row_taker<T, Index>{take});
}

}  // namespace devplace::detail

namespace devplace {

template <> struct implementation<backend::cuda, op::take_rows> {
  template <class T, class Index> static void run(int ordinal, const detail::row_taker<T, Index>& take) {
    const auto kernel = detail::make_take_rows_kernel(take);
    if (kernel.n != 0) detail::kernel_launch{ordinal}(kernel.blocks(), kernel);
  }
};

}  // namespace devplace
