// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/column_sums.hpp>
#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

// Products, and parts of products, that cuBLASLt does not compute or computes differently.

/// Computes C = epilogue(beta C + bias) in one pass, `Width` elements at a time: bias and activation after a product,
/// or the whole product if its sum is empty. cuBLASLt's epilogue for bias and relu turns NaN into 0, but NaN must stay
/// NaN as on the CPU. For float, cuBLASLt's epilogue is a separate pass over C, too.
template <class T, unsigned Width, class Bias = T> struct finish_kernel {
  using value_type = computed_t<T>;
  static constexpr unsigned threads = 256;
  static constexpr unsigned rows_at_once = threads / 32;
  static constexpr unsigned rows_in_flight = 4;  ///< rows that are read before the first one is written
  static constexpr std::size_t strip_rows = rows_at_once * rows_in_flight;
  static constexpr std::size_t tile = std::size_t{32} * Width;

  std::size_t rows, columns, ld;
  T* c;
  value_type beta;
  const Bias* bias;
  detail::epilogue epilogue;

  std::size_t blocks() const { return divided_up(columns, tile) * divided_up(rows, strip_rows); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const std::size_t tiles = divided_up(columns, tile);
    const std::size_t items = tiles * divided_up(rows, strip_rows);
    for (std::size_t item = t.block_index(); item < items; item += t.grid_size()) {
      const std::size_t column = item % tiles * tile + t.thread_index() % 32 * Width;
      const std::size_t row = item / tiles * strip_rows + t.thread_index() / 32;
      if (column < columns) finish_rows(t, row, column);
    }
  }

 private:
  template <class Thread> DEVPLACE_DEVICE void finish_rows(const Thread& t, std::size_t row, std::size_t column) const {
    pack<Bias, Width> added{};
    if (bias != nullptr) added = t.template load<Bias, Width>(bias + column);
    pack<T, Width> x[rows_in_flight];
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < rows_in_flight; ++k) {
      x[k] = pack<T, Width>{};
      if (beta != value_type{0} && row + k * rows_at_once < rows)
        x[k] = t.template load<T, Width>(c + (row + k * rows_at_once) * ld + column);
    }
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < rows_in_flight; ++k) {
      DEVPLACE_DEVICE_UNROLL
      for (unsigned e = 0; e < Width; ++e) {
        auto value = static_cast<value_type>(x[k].value[e]);
        if (beta != value_type{0}) value *= beta;
        // A null bias must not be added as 0: -0 + 0 is +0.
        if (bias != nullptr) value += static_cast<value_type>(added.value[e]);
        if (epilogue == epilogue::relu && value < value_type{0}) value = value_type{0};
        x[k].value[e] = static_cast<T>(value);
      }
      if (row + k * rows_at_once < rows) t.store(c + (row + k * rows_at_once) * ld + column, x[k]);
    }
  }
};

/// Multiplies a matrix's rows by a vector, `Lanes` threads per row: element i of the result is the sum over p of
/// matrix[i * ld + p] * vector[p * stride].
template <class T, unsigned Lanes, class Result = sum_result<T>> struct row_products_kernel {
  using value_type = computed_t<T>;
  static constexpr unsigned threads = 256;
  static constexpr unsigned rows_at_once = threads / Lanes;

  std::size_t rows, count;
  const T* matrix;
  std::size_t ld;
  const T* vector;
  std::size_t stride;
  Result result;

  std::size_t blocks() const { return divided_up(rows, rows_at_once); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const thread_group<Thread, Lanes> group(t);
    const std::size_t step = std::size_t{t.grid_size()} * rows_at_once;
    const std::size_t first_row = std::size_t{t.block_index()} * rows_at_once + t.thread_index() / Lanes;
    for (std::size_t row = first_row; row < rows; row += step) {
      value_type sum = 0;
      for (std::size_t p = group.index(); p < count; p += Lanes)
        sum += static_cast<value_type>(matrix[row * ld + p]) * static_cast<value_type>(vector[p * stride]);
      sum = group.all_reduce(sum, add_up{});
      if (group.index() == 0) result.store(row, sum);
    }
  }
};

/// Computes any product with one thread per element: for outer products and shapes without an algorithm in cuBLASLt.
template <class T, class C = T> struct any_product_kernel {
  using value_type = computed_t<T>;
  static constexpr unsigned threads = 256;

  gemm_arguments<T, C> g;

  std::size_t blocks() const { return divided_up(g.m * g.n, threads); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const std::size_t a_row = g.transpose_a ? 1 : g.lda, a_next = g.transpose_a ? g.lda : 1;
    const std::size_t b_column = g.transpose_b ? g.ldb : 1, b_next = g.transpose_b ? 1 : g.ldb;
    const std::size_t step = std::size_t{t.grid_size()} * threads;
    for (std::size_t i = std::size_t{t.block_index()} * threads + t.thread_index(); i < g.m * g.n; i += step) {
      const T* a = g.a + i / g.n * a_row;
      const T* b = g.b + i % g.n * b_column;
      value_type sum = 0;
      for (std::size_t p = 0; p < g.k; ++p)
        sum += static_cast<value_type>(a[p * a_next]) * static_cast<value_type>(b[p * b_next]);
      const sum_result<value_type, C, T> result{g.c + i / g.n * g.ldc, 1, g.alpha, g.beta, g.bias, 1, g.epilogue};
      result.store(i % g.n, sum);
    }
  }
};

}  // namespace devplace::detail
