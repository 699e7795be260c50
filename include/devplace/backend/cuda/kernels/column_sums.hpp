// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/backend/cuda/pack.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// Stores a sum: out[i] = epilogue(alpha sum + beta out[i] + bias). With beta 0, out is not read. Sums are of type T;
/// out and bias are of type T or 16-bit.
template <class T, class Out = T, class Bias = T> struct sum_result {
  Out* out;
  std::size_t stride = 1;
  T alpha = 1;
  T beta = 0;
  const Bias* bias = nullptr;
  std::size_t bias_stride = 0;
  detail::epilogue epilogue = detail::epilogue::none;

  DEVPLACE_DEVICE void store(std::size_t i, T sum) const {
    Out& element = out[i * stride];
    T x = alpha * sum;
    if (beta != T{0}) x += beta * static_cast<T>(element);
    if (bias != nullptr) x += static_cast<T>(bias[i * bias_stride]);
    element = static_cast<Out>(epilogue == epilogue::relu && x < T{0} ? T{0} : x);
  }
};

// Sources of the summands of column sums. A source reads `width` adjacent elements of a row and turns them into
// summands in a second step, so that several reads are in flight before the first is used.

/// Converts elements to summands of the sums' type.
template <class T, unsigned N> DEVPLACE_DEVICE pack<computed_t<T>, N> as_summands(const pack<T, N>& x) {
  pack<computed_t<T>, N> result;
  DEVPLACE_DEVICE_UNROLL
  for (unsigned e = 0; e < N; ++e) result.value[e] = static_cast<computed_t<T>>(x.value[e]);
  return result;
}

template <class T, unsigned Width> struct matrix_source {
  using value_type = computed_t<T>;
  static constexpr unsigned width = Width;
  using read_type = pack<T, Width>;

  const T* data;
  std::size_t ld;

  template <class Thread> DEVPLACE_DEVICE read_type read(const Thread& t, std::size_t row, std::size_t column) const {
    return t.template load<T, Width>(data + row * ld + column);
  }
  template <class Thread>
  DEVPLACE_DEVICE pack<value_type, Width> summands(const Thread&, const read_type& x, std::size_t, std::size_t) const {
    return as_summands(x);
  }
};

/// The rows of a matrix, each multiplied by its own weight: for v^T X.
template <class T, unsigned Width> struct weighted_rows_source {
  using value_type = computed_t<T>;
  static constexpr unsigned width = Width;
  struct read_type {
    pack<T, Width> x;
    T weight;
  };

  const T* data;
  std::size_t ld;
  const T* weights;
  std::size_t weight_stride;

  template <class Thread> DEVPLACE_DEVICE read_type read(const Thread& t, std::size_t row, std::size_t column) const {
    return {t.template load<T, Width>(data + row * ld + column), weights[row * weight_stride]};
  }
  template <class Thread>
  DEVPLACE_DEVICE pack<value_type, Width> summands(const Thread&, const read_type& read, std::size_t,
                                                   std::size_t) const {
    pack<value_type, Width> result = as_summands(read.x);
    const auto weight = static_cast<value_type>(read.weight);
    DEVPLACE_DEVICE_UNROLL
    for (unsigned e = 0; e < Width; ++e) result.value[e] *= weight;
    return result;
  }
};

/// Divides a matrix into strips of rows and tiles of 32 * width columns. A block handles one strip of one tile.
struct column_strips {
  std::size_t rows, columns, strip_rows, strips;
};

/// Sums columns in a fixed order: each thread sums `width` columns over every Rows-th row of a strip; then these Rows
/// partial sums are added in order. Strip s yields elements s * columns + column of the result.
template <class Source, unsigned Rows, class Result = sum_result<typename Source::value_type>>
struct column_sums_kernel {
  using value_type = typename Source::value_type;
  static constexpr unsigned width = Source::width;
  static constexpr unsigned threads = 32 * Rows;
  static constexpr std::size_t tile = std::size_t{32} * width;
  static constexpr unsigned rows_in_flight = 4;  ///< rows that are read before the first one is used

  Source source;
  column_strips all;
  Result result;

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    using vector = pack<value_type, width>;
    const auto sums = t.template shared<vector, threads>();
    const unsigned first = t.thread_index() / 32;
    const std::size_t tiles = divided_up(all.columns, tile);
    for (std::size_t item = t.block_index(); item < tiles * all.strips; item += t.grid_size()) {
      const std::size_t strip = item / tiles;
      const std::size_t column = item % tiles * tile + t.thread_index() % 32 * width;
      const std::size_t begin = strip * all.strip_rows;
      const std::size_t end = begin + all.strip_rows < all.rows ? begin + all.strip_rows : all.rows;
      vector sum{};
      if (column < all.columns) add_rows(t, sum, begin + first, end, column);
      sums.store(t.thread_index(), sum);
      t.sync();
      if (first == 0 && column < all.columns) {
        for (unsigned other = 1; other < Rows; ++other) add(sum, sums.load(other * 32 + t.thread_index()));
        DEVPLACE_DEVICE_UNROLL
        for (unsigned e = 0; e < width; ++e) result.store(strip * all.columns + column + e, sum.value[e]);
      }
      t.sync();  // before the next round overwrites sums
    }
  }

 private:
  template <class Thread>
  DEVPLACE_DEVICE void add_rows(const Thread& t, pack<value_type, width>& sum, std::size_t row, std::size_t end,
                                std::size_t column) const {
    for (; row + (rows_in_flight - 1) * Rows < end; row += rows_in_flight * Rows) {
      typename Source::read_type x[rows_in_flight];
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < rows_in_flight; ++k) x[k] = source.read(t, row + k * Rows, column);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < rows_in_flight; ++k) add(sum, source.summands(t, x[k], row + k * Rows, column));
    }
    for (; row < end; row += Rows) add(sum, source.summands(t, source.read(t, row, column), row, column));
  }

  DEVPLACE_DEVICE static void add(pack<value_type, width>& sum, const pack<value_type, width>& x) {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned e = 0; e < width; ++e) sum.value[e] += x.value[e];
  }
};

/// Sums the columns of a source of `rows` rows with one kernel. If there are enough rows for many blocks, uses two
/// kernels and stores the sums of strips in `workspace`, of `bytes` bytes. The strips, and so the bits, depend only on
/// the shape. `launch(blocks, kernel)` enqueues a kernel.
template <class Source, class T, class Out, class Bias, class Launch>
void launch_column_sums(const Source& source, std::size_t rows, std::size_t columns,
                        const sum_result<T, Out, Bias>& result, T* workspace, std::size_t bytes, const Launch& launch) {
  if (columns == 0) return;
  constexpr std::size_t fewest_rows = 64, most_blocks = 512;
  using first_kernel = column_sums_kernel<Source, 8>;
  const std::size_t tiles = divided_up(columns, first_kernel::tile);
  std::size_t strips = std::min(divided_up(rows, fewest_rows), most_blocks / std::min(tiles, most_blocks));
  strips = std::max(std::size_t{1}, std::min(strips, bytes / (columns * sizeof(T))));
  const std::size_t strip_rows = divided_up(rows, strips);
  const column_strips all{rows, columns, strip_rows, strips};
  if (strips == 1) return launch(tiles, column_sums_kernel<Source, 8, sum_result<T, Out, Bias>>{source, all, result});
  launch(tiles * strips, first_kernel{source, all, sum_result<T>{workspace}});
  using second_kernel = column_sums_kernel<matrix_source<T, 1>, 32, sum_result<T, Out, Bias>>;
  launch(divided_up(columns, second_kernel::tile),
         second_kernel{{workspace, columns}, {strips, columns, strips, 1}, result});
}

}  // namespace devplace::detail
