// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/index_rows.hpp>
#include <devplace/ops/detail/pairs.hpp>
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
      std::size_t k = index[1];
      const std::size_t end = k + n;
      if (factor == 2 && k % 2 == 0) {
        for (; k + 16 <= end; k += 16) repeat<8>(out + k, source + k / 2);
        for (; k + 8 <= end; k += 8) repeat<4>(out + k, source + k / 2);
      }
      for (; k < end; ++k) out[k] = source[k / factor];
    });
  }

 private:
  template <std::size_t N> [[gnu::always_inline]] static void repeat(T* out, const T* source) {
    using number = std::conditional_t<sizeof(T) == 2, std::uint16_t, T>;
    pairs<number, N> both;
    both.first = both.second = *reinterpret_cast<const typename pairs<number, N>::in_memory*>(source);
    both.store(reinterpret_cast<number*>(out));
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
  void range(std::size_t from, std::size_t until) const
    requires floating_element<T>
  {
    for_rows({until / columns + 1, columns}, from, until, [this](const std::size_t* index, std::size_t n) {
      std::size_t i = index[0] * columns + index[1];
      const std::size_t end = i + n;
      if (factor == 2) {
        for (; i + 8 <= end; i += 8) sum_pairs<8>(i, index[0]);
        for (; i + 4 <= end; i += 4) sum_pairs<4>(i, index[0]);
      }
      for (; i < end; ++i) (*this)(i);
    });
  }

 private:
  /// Computes `N` elements of row `row` from element i on; the factor is 2.
  template <std::size_t N> [[gnu::always_inline]] void sum_pairs(std::size_t i, std::size_t row) const {
    const T* const first = dy + 2 * (row * columns + i);
    const pairs<T, N> upper(first), lower(first + 2 * columns);
    *reinterpret_cast<typename pairs<T, N>::in_memory*>(dx + i) =
        T{0} + upper.first + upper.second + lower.first + lower.second;
  }
};

}  // namespace devplace::detail

#include DEVPLACE_BACKENDS(upsample)
