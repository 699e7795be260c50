// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/column_sums.hpp>
#include <devplace/backend/cuda/pack.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

/// A source of column sums (kernels/column_sums.hpp) that also stores its summands: the gradient of a relu's input,
/// computed from its output and the output's gradient. All three matrices are contiguous; `to` may be `dy`.
template <class T, unsigned Width> struct relu_gradient_source {
  using value_type = computed_t<T>;
  static constexpr unsigned width = Width;
  struct read_type {
    pack<T, Width> dy, y;
  };

  T* to;
  const T* dy;
  const T* y;
  std::size_t columns;

  template <class Thread> DEVPLACE_DEVICE read_type read(const Thread& t, std::size_t row, std::size_t column) const {
    return {t.template load<T, Width>(dy + row * columns + column),
            t.template load<T, Width>(y + row * columns + column)};
  }
  template <class Thread>
  DEVPLACE_DEVICE pack<value_type, Width> summands(const Thread& t, const read_type& read, std::size_t row,
                                                   std::size_t column) const {
    pack<T, Width> result;
    DEVPLACE_DEVICE_UNROLL
    for (unsigned e = 0; e < Width; ++e)
      result.value[e] =
          static_cast<value_type>(read.y.value[e]) <= 0 ? static_cast<T>(value_type{0}) : read.dy.value[e];
    t.store(to + row * columns + column, result);
    return as_summands(result);
  }
};

}  // namespace devplace::detail
