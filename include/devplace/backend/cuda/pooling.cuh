// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/pooling.hpp>
#include <devplace/tensor/dtype.hpp>

// Pooling of 16-bit elements in adjacent windows of 2 x 2. A thread reads 16 bytes of two rows: 8 columns, 4 windows.
// Row lengths must be multiples of 8 elements, because rows of other lengths begin at unaligned addresses. Other
// windows may overlap or leave gaps. For these, adjacent threads take adjacent windows, whose elements share cache
// lines; one pack per thread would spread a warp's accesses over more cache lines.

namespace devplace::detail {

/// 8 columns of two adjacent rows: 4 squares of 2 x 2.
template <class T> struct four_squares {
  pack<T, 8> upper, lower;

  template <class Thread> DEVPLACE_DEVICE static four_squares load(const Thread& t, const T* at, std::size_t columns) {
    return {t.template load<T, 8>(at), t.template load<T, 8>(at + columns)};
  }
  /// Calls f(element, number of the element in the square) for the elements of a square, in order.
  template <class F> DEVPLACE_DEVICE void each(unsigned square, const F& f) const {
    f(upper.value[2 * square], 0u);
    f(upper.value[2 * square + 1], 1u);
    f(lower.value[2 * square], 2u);
    f(lower.value[2 * square + 1], 3u);
  }
  DEVPLACE_DEVICE computed_t<T> sum(unsigned square) const {
    computed_t<T> result{0};
    each(square, [&](T x, unsigned) { result += static_cast<computed_t<T>>(x); });
    return result;
  }
};

inline bool have_packs(const pooling_shape& s) { return in_squares(s) && s.columns.in % 8 == 0; }

template <template <class> class Pool, half_precision_element T>
  requires(std::is_same_v<Pool<T>, max_pool_functor<T>> || std::is_same_v<Pool<T>, average_pool_functor<T>>)
struct wide_form<Pool<T>> {
  static constexpr unsigned width = 4;
  Pool<T> f;

  bool is_wide() const { return have_packs(f.s) && is_aligned<8>(f.x) && is_aligned<width>(f.to); }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    const pooling_shape& s = f.s;
    const std::size_t row = quotient(i, s.columns.out), plane = quotient(row, s.rows.out);
    const std::size_t at = 2 * ((row - plane * s.rows.out) * s.columns.in + i - row * s.columns.out);
    const auto squares = four_squares<T>::load(t, f.x + plane * s.plane() + at, s.columns.in);
    t.store(f.to + i, pack_of<T, width>([&](unsigned w) { return result(f, squares, w); }));
  }

 private:
  DEVPLACE_DEVICE static T result(const max_pool_functor<T>&, const four_squares<T>& squares, unsigned w) {
    T best = lowest_element<T>;
    squares.each(w, [&](T x, unsigned) {
      if (replaces(x, best)) best = x;
    });
    return best;
  }
  DEVPLACE_DEVICE static T result(const average_pool_functor<T>&, const four_squares<T>& squares, unsigned w) {
    return static_cast<T>(squares.sum(w) / 4);
  }
};

/// Computes 8 adjacent input gradients from the gradients of 4 windows. A last row that no window contains gets zeros.
template <template <class> class Gradient, half_precision_element T>
  requires(std::is_same_v<Gradient<T>, max_pool_gradient_functor<T>> ||
           std::is_same_v<Gradient<T>, average_pool_gradient_functor<T>>)
struct wide_form<Gradient<T>> {
  static constexpr unsigned width = 8;
  static constexpr unsigned least_blocks = 1;  // with more blocks nvcc 13.0 spills registers
  Gradient<T> f;

  bool is_wide() const {
    return have_packs(f.s) && input_is_aligned(f) && is_aligned<4>(f.dy) && is_aligned<width>(f.dx);
  }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    const std::size_t line = quotient(i, f.s.columns.in), plane = quotient(line, f.s.rows.in);
    const std::size_t row = line - plane * f.s.rows.in, column = i - line * f.s.columns.in;
    pack<T, width> dx;
    if (row / 2 < f.s.rows.out) {
      const auto dy = t.template load<T, 4>(f.dy + plane * f.s.windows() + row / 2 * f.s.columns.out + column / 2);
      each_share(t, f, i - row % 2 * f.s.columns.in, static_cast<unsigned>(row % 2),
                 [&](unsigned w, bool left, bool right, computed_t<T> divisor) {
                   const T gradient =
                       static_cast<T>(computed_t<T>{0} + static_cast<computed_t<T>>(dy.value[w]) / divisor);
                   dx.value[2 * w] = left ? gradient : T(0.0F);
                   dx.value[2 * w + 1] = right ? gradient : T(0.0F);
                 });
    } else {
      dx = pack_of<T, width>([](unsigned) { return T(0.0F); });
    }
    t.store(f.dx + i, dx);
  }

 private:
  static bool input_is_aligned(const max_pool_gradient_functor<T>& functor) { return is_aligned<width>(functor.x); }
  static bool input_is_aligned(const average_pool_gradient_functor<T>&) { return true; }

  /// Calls take(w, left, right, divisor) for each window w of 4. `left` and `right` tell whether the left and the right
  /// element of the window's upper row (lower row if `lower` is 1) receive the window's gradient, divided by `divisor`.
  DEVPLACE_DEVICE static void each_share(const auto& t, const max_pool_gradient_functor<T>& functor, std::size_t at,
                                         unsigned lower, const auto& take) {
    const auto squares = four_squares<T>::load(t, functor.x + at, functor.s.columns.in);
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < 4; ++w) {
      T best = squares.upper.value[2 * w];
      unsigned found = 0;
      squares.each(w, [&](T x, unsigned k) {
        const bool takes = k != 0 && replaces(x, best);
        best = takes ? x : best;
        found = takes ? k : found;
      });
      take(w, found == 2 * lower, found == 2 * lower + 1, computed_t<T>{1});
    }
  }
  DEVPLACE_DEVICE static void each_share(const auto&, const average_pool_gradient_functor<T>&, std::size_t, unsigned,
                                         const auto& take) {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < 4; ++w) take(w, true, true, computed_t<T>{4});
  }
};

}  // namespace devplace::detail
