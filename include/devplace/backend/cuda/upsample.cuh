// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/backend/cuda/pooling.cuh>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/upsample.hpp>
#include <devplace/tensor/dtype.hpp>

// Doubles rows and columns of 16-bit elements. A thread handles 4 elements and their 8 columns in two rows of the
// result, with 16-byte accesses to the larger tensor. With other factors, or if row lengths are not multiples of 4, a
// thread handles one element.

namespace devplace::detail {

template <half_precision_element T> struct wide_form<upsample_functor<T>> {
  static constexpr unsigned width = 8;
  upsample_functor<T> f;

  bool is_wide() const { return f.factor == 2 && f.columns % 4 == 0 && is_aligned<4>(f.x) && is_aligned<width>(f.to); }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    const std::size_t row = quotient(i, 2 * f.columns), column = i - row * 2 * f.columns;
    const auto x = t.template load<T, 4>(f.x + row / 2 * f.columns + column / 2);
    t.store(f.to + i, pack_of<T, width>([&x](unsigned w) { return x.value[w / 2]; }));
  }
};

template <half_precision_element T> struct wide_form<upsample_gradient_functor<T>> {
  static constexpr unsigned width = 4;
  upsample_gradient_functor<T> f;

  bool is_wide() const {
    return f.factor == 2 && f.columns % width == 0 && is_aligned<8>(f.dy) && is_aligned<width>(f.dx);
  }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    const std::size_t row = quotient(i, f.columns);
    const auto squares = four_squares<T>::load(t, f.dy + 2 * (row * f.columns + i), 2 * f.columns);
    t.store(f.dx + i, pack_of<T, width>([&squares](unsigned w) { return static_cast<T>(squares.sum(w)); }));
  }
};

}  // namespace devplace::detail
