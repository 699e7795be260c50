// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/backend/cuda/kernels/reduction_layout.hpp>
#include <devplace/backend/cuda/kernels/wide.hpp>
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

template <class T, unsigned N> DEVPLACE_DEVICE pack<computed_t<T>, N> as_summands(const pack<T, N>& x) {
  return pack_of<computed_t<T>, N>([&x](unsigned e) { return static_cast<computed_t<T>>(x.value[e]); });
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
  DEVPLACE_DEVICE pack<value_type, Width> summands(const auto&, const read_type& x, std::size_t, std::size_t) const {
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
  DEVPLACE_DEVICE pack<value_type, Width> summands(const auto&, const read_type& read, std::size_t, std::size_t) const {
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

/// Largest number of strips of all tiles together, unless each tile has one strip.
inline constexpr std::size_t most_strips = 512;

/// Sums columns in a fixed order: each thread sums `width` columns over every eighth row of a strip; then these eight
/// partial sums are added in order. If there are several strips, the last block of a tile adds the strips' sums in the
/// same way.
template <class Source, class Result = sum_result<typename Source::value_type>> struct column_sums_kernel {
  using value_type = typename Source::value_type;
  static constexpr unsigned width = Source::width;
  static constexpr unsigned rows_at_once = 8;
  static constexpr unsigned threads = 32 * rows_at_once;
  static constexpr unsigned least_blocks = width == 2 ? 4 : 0;  // with 0, nvcc 13.0 spills in sums of two doubles
  static constexpr std::size_t tile = std::size_t{32} * width;
  static constexpr unsigned rows_in_flight = 4;  ///< rows that are read before the first one is used

  Source source;
  column_strips all;
  Result result;
  partial_results<value_type> partials;  // all.strips * all.columns values, and a ticket for each tile

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const std::size_t tiles = divided_up(all.columns, tile);
    for (std::size_t item = t.block_index(); item < tiles * all.strips; item += t.grid_size()) {
      const std::size_t strip = item / tiles;
      const std::size_t column = item % tiles * tile + t.thread_index() % 32 * width;
      const bool stores = t.thread_index() < 32 && column < all.columns;
      const std::size_t begin = strip * all.strip_rows;
      const std::size_t end = begin + all.strip_rows < all.rows ? begin + all.strip_rows : all.rows;
      pack<value_type, width> sum = sum_rows(t, source, begin, end, column);
      if (all.strips > 1) {
        if (stores) t.store(partials.values + strip * all.columns + column, sum);
        if (!is_last_block(t, partials.tickets + item % tiles, static_cast<unsigned>(all.strips))) continue;
        const matrix_source<value_type, width> strips{partials.values, all.columns};
        sum = sum_rows(t, strips, 0, all.strips, column);
      }
      if (!stores) continue;
      DEVPLACE_DEVICE_UNROLL
      for (unsigned e = 0; e < width; ++e) result.store(column + e, sum.value[e]);
    }
  }

 private:
  /// Returns the sums of rows [begin, end) to the first warp.
  DEVPLACE_DEVICE pack<value_type, width> sum_rows(const auto& t, const auto& rows, std::size_t begin, std::size_t end,
                                                   std::size_t column) const {
    const auto sums = t.template shared<pack<value_type, width>, threads>();
    pack<value_type, width> sum{};
    if (column < all.columns) add_rows(t, rows, sum, begin + t.thread_index() / 32, end, column);
    sums.store(t.thread_index(), sum);
    t.sync();
    if (t.thread_index() < 32)
      for (unsigned other = 1; other < rows_at_once; ++other) add(sum, sums.load(other * 32 + t.thread_index()));
    t.sync();  // before sums is used again
    return sum;
  }
  template <class Thread, class Rows>
  DEVPLACE_DEVICE static void add_rows(const Thread& t, const Rows& rows, pack<value_type, width>& sum, std::size_t row,
                                       std::size_t end, std::size_t column) {
    for (; row + (rows_in_flight - 1) * rows_at_once < end; row += rows_in_flight * rows_at_once) {
      typename Rows::read_type x[rows_in_flight];
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < rows_in_flight; ++k) x[k] = rows.read(t, row + k * rows_at_once, column);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < rows_in_flight; ++k) add(sum, rows.summands(t, x[k], row + k * rows_at_once, column));
    }
    for (; row < end; row += rows_at_once) add(sum, rows.summands(t, rows.read(t, row, column), row, column));
  }

  DEVPLACE_DEVICE static void add(pack<value_type, width>& sum, const pack<value_type, width>& x) {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned e = 0; e < width; ++e) sum.value[e] += x.value[e];
  }
};

/// Sums the columns of a source of `rows` rows with one kernel. If there are enough rows for many blocks, `partials`
/// receives the strips' sums, at most most_strips * 32 * Source::width. The strips, and so the bits, depend only on the
/// shape. `launch(blocks, kernel)` enqueues the kernel.
template <class Source, class T, class Out, class Bias, class Launch>
void launch_column_sums(const Source& source, std::size_t rows, std::size_t columns,
                        const sum_result<T, Out, Bias>& result, const partial_results<T>& partials,
                        const Launch& launch) {
  if (columns == 0) return;
  constexpr std::size_t fewest_rows = 64;
  using kernel_type = column_sums_kernel<Source, sum_result<T, Out, Bias>>;
  const std::size_t tiles = divided_up(columns, kernel_type::tile);
  const std::size_t most = most_strips / std::min(tiles, most_strips);
  const std::size_t strips = std::max(std::size_t{1}, std::min(divided_up(rows, fewest_rows), most));
  launch(tiles * strips, kernel_type{source, {rows, columns, divided_up(rows, strips), strips}, result, partials});
}

}  // namespace devplace::detail
