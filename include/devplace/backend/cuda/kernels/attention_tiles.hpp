// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/backend/cuda/kernels/attention.hpp>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/ops/detail/attention_arguments.hpp>
#include <devplace/ops/detail/exponential.hpp>

// Attention of 16-bit elements and its gradient on tensor cores. A block handles 64 rows, 16 per warp: queries, or keys
// in the kernel for the gradients of keys and values. The block copies the other positions to shared memory, `Others`
// at a time. Scores, probabilities and sums are float in registers; lanes have the scores of a product where the next
// product reads them. One warp computes each result, in a fixed order.

namespace devplace::detail {

/// The most elements of a head, limited by memory and registers; 0 if nvcc also compiles for GPUs without mma.sync.
inline constexpr std::size_t most_tile_width = configuration::architectures[0] >= 800 ? 128 : 0;

/// One thread's part of a tile of 64 rows and `Others` other positions, for heads of up to 32 * Columns elements.
template <class T, unsigned Columns, unsigned Others, class Thread> class attention_mma_tile {
  static constexpr unsigned chunks = 4 * Columns;  // a row's accesses of 16 bytes

 public:
  using chunk = pack<std::uint32_t, 4>;
  static constexpr unsigned stride = chunks + 1;  ///< of rows in shared memory; odd: 8 rows lie in different banks
  /// Numbers of one lane: element [n][2 r + j] belongs to row(r) and to the column 8 n + column() + j.
  using scores = float[Others / 8][4];
  using sums = float[chunks][4];

  DEVPLACE_DEVICE attention_mma_tile(Thread& t, const attention_shape& shape, std::size_t first)
      : thread_(t), lane_(t.thread_index() % 32), warp_row_(t.thread_index() / 32 * 16), first_(first), shape_(shape) {}

  DEVPLACE_DEVICE std::size_t row(unsigned r) const { return first_ + warp_row_ + lane_ / 4 + 8 * r; }
  DEVPLACE_DEVICE unsigned column() const { return lane_ % 4 * 2; }

  /// Copies `Count` positions from `first` on, and zeros beyond the sequence and the head. The whole block must call
  /// it.
  template <unsigned Count, class Array>
  DEVPLACE_DEVICE void copy(const Array& to, const T* from, std::size_t stride_from, std::size_t first) const {
    for (unsigned i = thread_.thread_index(); i < Count * chunks; i += 128) {
      const unsigned position = i / chunks, k = i % chunks;
      chunk value{};
      if (first + position < shape_.length && 8 * k < shape_.width)
        value = thread_.template load<std::uint32_t, 4>(
            reinterpret_cast<const std::uint32_t*>(from + (first + position) * stride_from + std::size_t{8} * k));
      to.store(position * stride + k, value);
    }
  }

  /// Computes to += the inner products of the warp's rows and the other positions.
  DEVPLACE_DEVICE void products(scores& to, const auto& of_rows, const auto& others) const {
    const unsigned row_at = (warp_row_ + lane_ % 16) * stride + lane_ / 16;
    const unsigned other_at = (lane_ / 16 * 8 + lane_ % 8) * stride + lane_ / 8 % 2;
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < chunks; k += 2) {
      if (8 * k >= shape_.width) break;
      const chunk a = thread_.template load_matrices<false>(of_rows, row_at + k);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned n = 0; n < Others / 8; n += 2)
        multiply(to[n], to[n + 1], a, thread_.template load_matrices<false>(others, 8 * n * stride + other_at + k));
    }
  }

  /// Computes to += the product of `factors`, rounded to T, and the other positions.
  template <class Array> DEVPLACE_DEVICE void add(sums& to, const scores& factors, const Array& others) const {
    const unsigned other_at = lane_ % 16 * stride + lane_ / 16;
    DEVPLACE_DEVICE_UNROLL
    for (unsigned n = 0; n < Others / 8; n += 2) {
      const float (&x)[4] = factors[n], (&y)[4] = factors[n + 1];
      const chunk a{{pair(x[0], x[1]), pair(x[2], x[3]), pair(y[0], y[1]), pair(y[2], y[3])}};
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < chunks; k += 2)
        if (8 * k < shape_.width)
          multiply(to[k], to[k + 1], a, thread_.template load_matrices<true>(others, 8 * n * stride + other_at + k));
    }
  }

  /// Stores factors[r] times the sums of row(r) to `to`, which points to position 0.
  DEVPLACE_DEVICE void store(T* to, std::size_t stride_to, const sums& from, const float (&factors)[2]) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned i = 0; i < 2 * chunks; ++i) {
      const unsigned r = i % 2, k = i / 2;
      if (row(r) < shape_.length && 8 * k < shape_.width)
        thread_.store(reinterpret_cast<std::uint32_t*>(to + row(r) * stride_to + 8 * k + column()),
                      pack<std::uint32_t, 1>{{pair(from[k][2 * r] * factors[r], from[k][2 * r + 1] * factors[r])}});
    }
  }

 private:
  DEVPLACE_DEVICE std::uint32_t pair(float low, float high) const { return thread_.template round_pair<T>(low, high); }
  DEVPLACE_DEVICE void multiply(float (&left)[4], float (&right)[4], const chunk& a, const chunk& b) const {
    thread_.template multiply_add<T>(left, a.value, b.value[0], b.value[1]);
    thread_.template multiply_add<T>(right, a.value, b.value[2], b.value[3]);
  }

  Thread& thread_;
  unsigned lane_, warp_row_;
  std::size_t first_;
  const attention_shape& shape_;
};

/// The output of a kernel: results, the gradients of queries, or the gradients of keys and values.
enum class attention_part : unsigned char { results, queries, keys };

template <class T, unsigned Columns, attention_part Part>
struct attention_tiles_kernel : attention_kernel<attention_tiles_kernel<T, Columns, Part>, 64, 128> {
  static constexpr bool gradient = Part != attention_part::results, of_keys = Part == attention_part::keys;
  static constexpr unsigned others = gradient && Columns > 2 ? 16 : 32;  // fits into 48 KiB and registers
  static constexpr unsigned least_blocks = others == 16 ? 2 : 0;         // else ptxas spills to fit more blocks
  std::conditional_t<gradient, attention_gradient_arguments<T>, attention_arguments<T>> g;

  template <class Thread> DEVPLACE_DEVICE void run(Thread& t, std::size_t sequence, std::size_t first) const {
    using tile_type = attention_mma_tile<T, Columns, others, Thread>;
    const attention_shape& s = g.shape;
    const tile_type tile(t, s, first);
    const T* const q = g.queries + s.first_query(sequence);
    const T *const k = q + s.row(), *const v = k + s.row(), *dy = nullptr;
    if constexpr (gradient) dy = g.dresults + s.first_result(sequence);
    const std::size_t stride = 3 * s.row(), begin = s.causal && of_keys ? first : 0;
    const std::size_t end = s.causal && !of_keys && first + 64 < s.length ? first + 64 : s.length;
    const attention_dropout<float> dropout = g.dropout.resolved();
    using chunk = typename tile_type::chunk;
    const auto rows = t.template shared<chunk, 64 * tile.stride, 0>();
    const auto others_left = t.template shared<chunk, others * tile.stride, 1>();
    const auto others_right = t.template shared<chunk, others * tile.stride, 2>();
    const auto right = t.template shared<chunk, gradient ? 64 * tile.stride : 1, 3>();
    typename tile_type::sums x = {}, dv = {};
    float maxima[2] = {-infinity<float>, -infinity<float>}, factors[2] = {};
    t.sync();  // the last tile has been read
    tile.template copy<64>(rows, of_keys ? k : q, stride, first);
    if constexpr (gradient) tile.template copy<64>(right, of_keys ? v : dy, of_keys ? stride : s.row(), first);
    for (std::size_t at = begin; at < end; at += others) {
      if (at != begin) t.sync();
      tile.template copy<others>(others_left, of_keys ? q : k, stride, at);
      tile.template copy<others>(others_right, of_keys ? dy : v, of_keys ? s.row() : stride, at);
      t.sync();
      typename tile_type::scores p = {};
      tile.products(p, rows, others_left);
      if constexpr (gradient) {
        typename tile_type::scores dp = {};
        tile.products(dp, right, others_right);
        differentiate(tile, p, dp, dropout, sequence, at);
        if constexpr (of_keys) tile.add(dv, p, others_right);
        tile.add(x, dp, others_left);
      } else {
        exponentiate(t, tile, p, x, maxima, factors, dropout, sequence, at);
        tile.add(x, p, others_right);
      }
    }
    if constexpr (gradient) {
      T* const to = g.dqueries + s.first_query(sequence);
      tile.store(of_keys ? to + s.row() : to, stride, x, {1, 1});
      if constexpr (of_keys) tile.store(to + 2 * s.row(), stride, dv, {1, 1});
    } else {
      DEVPLACE_DEVICE_UNROLL
      for (unsigned r = 0; r < 2; ++r) {
        const float sum = factors[r] + t.shuffle_xor(factors[r], 1), all = sum + t.shuffle_xor(sum, 2);
        if (tile.column() == 0 && tile.row(r) < s.length)
          g.log_sums[sequence * s.length + tile.row(r)] = maxima[r] + std::log(all);
        factors[r] = 1 / all;
      }
      tile.store(g.results + s.first_result(sequence), s.row(), x, factors);
    }
  }

 private:
  /// Replaces products `p` of queries and keys by exponentials after dropout, relative to the largest score so far.
  /// Adapts `y` and the lane's sums of exponentials to this maximum, and adds the exponentials to the sums.
  template <class Thread, class Tile>
  DEVPLACE_DEVICE void exponentiate(Thread& t, const Tile& tile, typename Tile::scores& p, typename Tile::sums& y,
                                    float (&maxima)[2], float (&sums)[2], const attention_dropout<float>& dropout,
                                    std::size_t sequence, std::size_t at) const {
    const attention_shape& s = g.shape;
    DEVPLACE_DEVICE_UNROLL
    for (unsigned r = 0; r < 2; ++r) {
      const std::size_t query = tile.row(r);
      float max = maxima[r];
      DEVPLACE_DEVICE_UNROLL
      for (unsigned i = 0; i < others / 4; ++i) {
        const std::size_t key = at + i / 2 * 8 + tile.column() + i % 2;
        float& score = p[i / 2][2 * r + i % 2];
        score = key < s.length && (!s.causal || key <= query) ? score * g.scale : -infinity<float>;
        max = score > max ? score : max;
      }
      for (const unsigned mask : {1u, 2u}) {  // the row's 4 lanes
        const float other = t.shuffle_xor(max, mask);
        max = other > max ? other : max;
      }
      const float correction = fast_exp<float>(maxima[r] - max);
      maxima[r] = max, sums[r] *= correction;
      DEVPLACE_DEVICE_UNROLL
      for (auto& columns : y) columns[2 * r] *= correction, columns[2 * r + 1] *= correction;
      philox_block words{};
      DEVPLACE_DEVICE_UNROLL
      for (unsigned i = 0; i < others / 4; ++i) {
        const std::size_t key = at + i / 2 * 8 + tile.column() + i % 2;
        float& score = p[i / 2][2 * r + i % 2];
        score = fast_exp<float>(score - max), sums[r] += score;
        if (dropout.drops()) {
          if (i % 2 == 0) words = dropout.words(s, sequence, query, key);
          score = dropout.apply(score, word_of(words, key));
        }
      }
    }
  }

  /// Replaces products `p` of queries and keys by probabilities after dropout, and products `dp` of the results'
  /// gradients and values by gradients of the former products.
  template <class Tile>
  DEVPLACE_DEVICE void differentiate(const Tile& tile, typename Tile::scores& p, typename Tile::scores& dp,
                                     const attention_dropout<float>& dropout, std::size_t sequence,
                                     std::size_t at) const {
    const attention_shape& s = g.shape;
    philox_block words{};
    float log_sums[2], products[2];
    DEVPLACE_DEVICE_UNROLL
    for (unsigned i = 0; i < others / 2; ++i) {
      const std::size_t row = tile.row(i / 2 % 2), other = at + i / 4 * 8 + tile.column() + i % 2;
      const std::size_t query = of_keys ? other : row, key = of_keys ? row : other;
      float &probability = p[i / 4][i % 4], &dscore = dp[i / 4][i % 4];
      const bool counts = query < s.length && key < s.length && (!s.causal || key <= query);
      const unsigned slot = of_keys ? i % 2 : i / 2 % 2;  // of the 2 queries of 4 numbers
      if (of_keys ? i % 4 < 2 : i == 2 * slot) {
        const std::size_t index = sequence * s.length + (query < s.length ? query : 0);
        log_sums[slot] = g.log_sums[index], products[slot] = g.products[index];
      }
      const float undropped = counts ? fast_exp<float>(probability * g.scale - log_sums[slot]) : 0;
      probability = undropped;
      if (dropout.drops()) {
        if (of_keys || i % 2 == 0) words = dropout.words(s, sequence, query, key);
        const std::uint32_t word = word_of(words, key);
        probability = dropout.apply(probability, word), dscore = dropout.apply(dscore, word);
      }
      dscore = counts ? g.scale * undropped * (dscore - products[slot]) : 0;
    }
  }

  /// Returns a key's word, without an array in local memory.
  DEVPLACE_DEVICE static std::uint32_t word_of(const philox_block& words, std::size_t key) {
    const std::uint32_t low = key % 2 == 0 ? words.word[0] : words.word[1];
    return key % 4 < 2 ? low : key % 2 == 0 ? words.word[2] : words.word[3];
  }
};

/// Enqueues the kernel that computes one part for 16-bit elements, or its counterpart of attention.hpp.
template <unsigned Columns, attention_part Part, class T>
void launch_attention_part(const auto& g, const auto& launch) {
  const auto launch_kernel = [&](const auto& kernel) { launch(kernel.blocks(g.shape), kernel); };
  if constexpr (half_precision_element<T>)
    launch_kernel(attention_tiles_kernel<T, Columns, Part>{{}, g});
  else if constexpr (Part == attention_part::results)
    launch_kernel(attention_results_kernel<T, Columns>{{}, g});
  else
    launch_kernel(attention_gradient_kernel<T, Columns, Part == attention_part::keys>{{}, g});
}

template <unsigned Columns, class T> void launch_attention(const attention_arguments<T>& g, const auto& launch) {
  launch_attention_part<Columns, attention_part::results, T>(g, launch);
}

template <unsigned Columns, class T>
void launch_attention_gradient(const attention_gradient_arguments<T>& g, const auto& launch) {
  launch_attention_part<Columns, attention_part::queries, T>(g, launch);
  launch_attention_part<Columns, attention_part::keys, T>(g, launch);
}

}  // namespace devplace::detail
