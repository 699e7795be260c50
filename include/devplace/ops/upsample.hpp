// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/detail/index_rows.hpp>
#include <devplace/tensor/dtype.hpp>

// Functors of layer upsample, for op::for_each. On the CPU, `range` computes a row at a time.

namespace devplace::detail {

/// to [planes, factor * rows, factor * columns] = x [planes, rows, columns] with each element repeated factor * factor
/// times.
template <class T> struct upsample_functor {
  std::size_t columns, factor;
  const T* x;
  T* to;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t wide = columns * factor, row = i / wide;
    to[i] = x[row / factor * columns + i % wide / factor];
  }
  void range(std::size_t from, std::size_t until) const {
    const std::size_t wide = columns * factor;
    for_rows({until / wide + 1, wide}, from, until, [this, wide](const std::size_t* index, std::size_t n) {
      const T* const source = x + index[0] / factor * columns;
      T* const out = to + index[0] * wide;
      for (std::size_t k = index[1]; k < index[1] + n; ++k) out[k] = source[k / factor];
    });
  }
};

/// dx = the gradient of upsample's input.
template <class T> struct upsample_gradient_functor {
  std::size_t columns, factor;
  const T* dy;
  T* dx;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t wide = columns * factor;
    const T* const first = dy + i / columns * factor * wide + i % columns * factor;
    computed_t<T> sum{0};
    for (std::size_t y = 0; y < factor; ++y)
      for (std::size_t z = 0; z < factor; ++z) sum += static_cast<computed_t<T>>(first[y * wide + z]);
    dx[i] = static_cast<T>(sum);
  }
};

}  // namespace devplace::detail

#include DEVPLACE_BACKENDS(upsample)
