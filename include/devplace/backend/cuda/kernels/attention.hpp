// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/ops/detail/attention_arguments.hpp>
#include <devplace/ops/detail/exponential.hpp>
#include <devplace/tensor/dtype.hpp>

// Attention on GPUs and its gradient. A block handles 32 rows, 4 per warp. Rows are queries,
// or keys in the kernel for the gradients of keys and values. The block visits the other positions of the sequence 32
// at a time. Each lane computes the scores of one position with the rows of the warp. Then each lane accumulates
// columns lane, lane + 32, ... of the rows' results, using the scores of all lanes.
//
// Elements are float or double; attention_tiles.hpp has kernels for 16-bit elements. Where those cannot be used, the
// layer converts 16-bit projections and results, 16 bytes at a time, because the gradient needs the unrounded results.
// A warp reads 32 adjacent columns of a row, 128 bytes of float.

namespace devplace::detail {

/// One thread's part of a tile of 32 rows and 32 other positions of a sequence, for heads of up to 32 * Columns
/// elements.
template <class T, unsigned Columns, class Thread> class attention_tile {
 public:
  static constexpr unsigned size = 32;
  static constexpr unsigned warp_rows = 4;

  /// Sums of one lane for each row of its warp, in columns lane + 32 c.
  struct sums {
    T values[warp_rows][Columns] = {};
  };

  DEVPLACE_DEVICE attention_tile(Thread& t, const attention_shape& shape)
      : thread_(t), lane_(t.thread_index() % 32), first_(t.thread_index() / 32 * warp_rows), shape_(shape) {}

  DEVPLACE_DEVICE unsigned lane() const { return lane_; }
  /// Returns the first row of this warp within the tile.
  DEVPLACE_DEVICE unsigned first_row() const { return first_; }

  /// Computes scores[r] = the inner product of row r of this warp and the other position of this lane. `rows` and
  /// `others` point to position 0; positions beyond the sequence count as zeros. The whole block must call it.
  DEVPLACE_DEVICE void products(T (&scores)[warp_rows], const T* rows, std::size_t row_stride, std::size_t first_row,
                                const T* others, std::size_t other_stride, std::size_t first_other) const {
    const auto a = thread_.template shared<T, size * 32, 0>();
    const auto b = thread_.template shared<T, size * 33, 1>();  // one more column, so that lanes use different banks
    DEVPLACE_DEVICE_UNROLL
    for (unsigned r = 0; r < warp_rows; ++r) scores[r] = 0;
    for (std::size_t column = 0; column < shape_.width; column += 32) {
      thread_.sync();
      for (unsigned i = first_; i < first_ + warp_rows; ++i) {
        a.store(i * 32 + lane_, element(rows, row_stride, first_row + i, column + lane_));
        b.store(i * 33 + lane_, element(others, other_stride, first_other + i, column + lane_));
      }
      thread_.sync();
      for (unsigned k = 0; k < 32; ++k) {
        const T other = b.load(lane_ * 33 + k);
        DEVPLACE_DEVICE_UNROLL
        for (unsigned r = 0; r < warp_rows; ++r) scores[r] += a.load((first_ + r) * 32 + k) * other;
      }
    }
  }

  /// Computes to[r] += sum over all lanes of factors[r] times the row of `others` at the lane's position.
  DEVPLACE_DEVICE void add(sums& to, const T (&factors)[warp_rows], const T* others, std::size_t stride,
                           std::size_t first_other) const {
    for (unsigned k = 0; k < 32; ++k) {
      T factor[warp_rows];
      DEVPLACE_DEVICE_UNROLL
      for (unsigned r = 0; r < warp_rows; ++r) factor[r] = thread_.shuffle(factors[r], k);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned c = 0; c < Columns; ++c) {
        const T other = element(others, stride, first_other + k, lane_ + 32 * c);
        DEVPLACE_DEVICE_UNROLL
        for (unsigned r = 0; r < warp_rows; ++r) to.values[r][c] += factor[r] * other;
      }
    }
  }

  /// Stores factors[r] times the sums of row r of this warp to `to`. `first_row` is the tile's first row.
  DEVPLACE_DEVICE void store(T* to, std::size_t stride, std::size_t first_row, const sums& from,
                             const T (&factors)[warp_rows]) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned r = 0; r < warp_rows; ++r) {
      const std::size_t row = first_row + first_ + r;
      DEVPLACE_DEVICE_UNROLL
      for (unsigned c = 0; c < Columns; ++c)
        if (row < shape_.length && lane_ + 32 * c < shape_.width)
          to[row * stride + lane_ + 32 * c] = from.values[r][c] * factors[r];
    }
  }

  /// Applies dropout to x, the probability of a query for a key or the gradient of this probability.
  DEVPLACE_DEVICE T drop(const attention_dropout<T>& dropout, std::size_t sequence, std::size_t query, std::size_t key,
                         T x) const {
    if (!dropout.drops()) return x;
    return dropout.apply(x, dropout.words(shape_, sequence, query, key).word[key % 4]);
  }

 private:
  DEVPLACE_DEVICE T element(const T* data, std::size_t stride, std::size_t row, std::size_t column) const {
    return row < shape_.length && column < shape_.width ? data[row * stride + column] : T{0};
  }

  Thread& thread_;
  unsigned lane_;
  unsigned first_;
  const attention_shape& shape_;
};

/// Base of the attention kernels: one block of `Threads` threads per `Rows` positions of a sequence.
template <class Derived, unsigned Rows = 32, unsigned Threads = 256> struct attention_kernel {
  static constexpr unsigned threads = Threads;

  static std::size_t blocks(const attention_shape& s) { return s.sequences() * tiles(s); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const auto& self = static_cast<const Derived&>(*this);
    const attention_shape& s = self.g.shape;
    const std::size_t count = s.sequences() * tiles(s);
    for (std::size_t i = t.block_index(); i < count; i += t.grid_size()) self.run(t, i / tiles(s), i % tiles(s) * Rows);
  }

 private:
  DEVPLACE_HD static std::size_t tiles(const attention_shape& s) { return divided_up(s.length, Rows); }
};

/// Computes the results of 32 queries.
template <class T, unsigned Columns>
struct attention_results_kernel : attention_kernel<attention_results_kernel<T, Columns>> {
  attention_arguments<T> g;

  template <class Thread> DEVPLACE_DEVICE void run(Thread& t, std::size_t sequence, std::size_t first) const {
    using tile_type = attention_tile<T, Columns, Thread>;
    constexpr unsigned rows = tile_type::warp_rows;
    const attention_shape& s = g.shape;
    const tile_type tile(t, s);
    const lane_group<Thread, 32> warp(t);
    const T* const q = g.queries + s.first_query(sequence);
    const T *const k = q + s.row(), *const v = k + s.row();
    const std::size_t stride = 3 * s.row();
    const attention_dropout<T> dropout = g.dropout.resolved();
    typename tile_type::sums y;
    T maxima[rows], denominators[rows], p[rows];
    DEVPLACE_DEVICE_UNROLL
    for (unsigned r = 0; r < rows; ++r) {
      maxima[r] = -infinity<T>;
      denominators[r] = 0;
    }
    for (std::size_t at = 0; at < s.length && (!s.causal || at <= first); at += 32) {
      tile.products(p, q, stride, first, k, stride, at);
      const std::size_t key = at + tile.lane();
      DEVPLACE_DEVICE_UNROLL
      for (unsigned r = 0; r < rows; ++r) {
        const std::size_t query = first + tile.first_row() + r;
        const bool counts = key < s.length && (!s.causal || key <= query);
        const T score = counts ? p[r] * g.scale : -infinity<T>;
        const T max = take_larger{}(maxima[r], warp.all_reduce(score, take_larger{}));
        const T correction = fast_exp<T>(maxima[r] - max), e = counts ? fast_exp<T>(score - max) : T{0};
        denominators[r] = denominators[r] * correction + warp.all_reduce(e, add_up{});
        maxima[r] = max;
        DEVPLACE_DEVICE_UNROLL
        for (unsigned c = 0; c < Columns; ++c) y.values[r][c] *= correction;
        p[r] = tile.drop(dropout, sequence, query, key, e);
      }
      tile.add(y, p, v, stride, at);
    }
    DEVPLACE_DEVICE_UNROLL
    for (unsigned r = 0; r < rows; ++r) {
      const std::size_t query = first + tile.first_row() + r;
      if (tile.lane() == 0 && query < s.length)
        g.log_sums[sequence * s.length + query] = maxima[r] + std::log(denominators[r]);
      p[r] = 1 / denominators[r];
    }
    tile.store(g.results + s.first_result(sequence), s.row(), first, y, p);
  }
};

template <class T, unsigned Columns, class Thread> struct attention_gradient_tile : attention_tile<T, Columns, Thread> {
  const attention_gradient_arguments<T>& g;
  std::size_t sequence;
  const T* q = g.queries + g.shape.first_query(sequence);
  const T* k = q + g.shape.row();
  const T* v = k + g.shape.row();
  const T* dy = g.dresults + g.shape.first_result(sequence);
  std::size_t stride = 3 * g.shape.row();  // distance between rows of q, k and v
  attention_dropout<T> dropout = g.dropout.resolved();

  /// Replaces `p`, the product of a query and a key, by the probability after dropout. Replaces `dp`, the product of
  /// the result's gradient and the value, by the gradient of that query-key product.
  DEVPLACE_DEVICE void differentiate(T& p, T& dp, std::size_t query, std::size_t key) const {
    const attention_shape& s = g.shape;
    const bool counts = query < s.length && key < s.length && (!s.causal || key <= query);
    const std::size_t row = sequence * s.length + query;
    const T probability = counts ? fast_exp<T>(p * g.scale - g.log_sums[row]) : T{0};
    const T gradient = this->drop(dropout, sequence, query, key, dp);
    dp = counts ? g.scale * probability * (gradient - g.products[row]) : T{0};
    p = this->drop(dropout, sequence, query, key, probability);
  }
};

/// Computes the gradients of 32 queries or, with `Keys`, of 32 keys and of their values.
template <class T, unsigned Columns, bool Keys>
struct attention_gradient_kernel : attention_kernel<attention_gradient_kernel<T, Columns, Keys>> {
  attention_gradient_arguments<T> g;

  template <class Thread> DEVPLACE_DEVICE void run(Thread& t, std::size_t sequence, std::size_t first) const {
    const attention_gradient_tile<T, Columns, Thread> tile{{t, g.shape}, g, sequence};
    const attention_shape& s = g.shape;
    constexpr unsigned rows = tile.warp_rows;
    const T *const row_of_tile = Keys ? tile.k : tile.q, *const other = Keys ? tile.q : tile.k;
    typename attention_tile<T, Columns, Thread>::sums dx, dv;
    T p[rows], dp[rows];
    for (std::size_t at = s.causal && Keys ? first : 0; at < s.length && (Keys || !s.causal || at <= first); at += 32) {
      tile.products(p, row_of_tile, tile.stride, first, other, tile.stride, at);
      if constexpr (Keys)
        tile.products(dp, tile.v, tile.stride, first, tile.dy, s.row(), at);
      else
        tile.products(dp, tile.dy, s.row(), first, tile.v, tile.stride, at);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned r = 0; r < rows; ++r) {
        const std::size_t row = first + tile.first_row() + r, column = at + tile.lane();
        tile.differentiate(p[r], dp[r], Keys ? column : row, Keys ? row : column);
      }
      if constexpr (Keys) tile.add(dv, p, tile.dy, s.row(), at);
      tile.add(dx, dp, other, tile.stride, at);
    }
    const T ones[rows] = {1, 1, 1, 1};
    T* const to = g.dqueries + s.first_query(sequence) + (Keys ? s.row() : 0);
    tile.store(to, tile.stride, first, dx, ones);
    if constexpr (Keys) tile.store(to + s.row(), tile.stride, first, dv, ones);
  }
};

}  // namespace devplace::detail
