// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <devplace/ops/detail/attention_arguments.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/detail/row_loops.hpp>

// Row functors of attention on the CPU, for run_range; they process rows of a block of scores.

namespace devplace::detail {

/// Number of queries and of keys in a block of scores, and the stride of the block's rows.
inline constexpr std::size_t attention_block = 64;

/// A block of scores [queries, keys] of one sequence, from query `query` and key `key` on.
template <class T> struct attention_scores {
  attention_shape shape;
  attention_dropout<T> dropout;
  std::size_t sequence, query, key, keys;

  /// Returns how many of the block's keys, from its first key on, row `row` attends to.
  std::size_t keys_of(std::size_t row) const {
    if (!shape.causal) return keys;
    const std::size_t before = query + row + 1 - key;
    return before < keys ? before : keys;
  }

  /// Calls f(k, word) with the random word of each key k of a row.
  template <class F> void for_each_word(std::size_t row, const F& f) const {
    static_assert(attention_block == 4 * philox_lanes);
    std::uint32_t word[4][philox_lanes], in_order[attention_block];
    const std::size_t head = sequence % shape.heads;
    dropout.of_sample(sequence / shape.heads)
        .blocks(attention_dropout<T>::first_block(shape, head, query + row) + key / 4, word);
    put_in_order(word, in_order);
    independent_loop(0, keys, [&f, &in_order](std::size_t k) { f(k, in_order[k]); });
  }
};

/// Replaces scores by exp(score - running maximum of the row), and rescales `sums` and `results` of the earlier blocks
/// of keys to the new maximum (online softmax).
template <class T> struct attention_exponentials {
  static constexpr bool computes_much = !avx512_by_clang;  // clang's code would not be faster

  attention_scores<T> block;
  T* scores;
  T* maxima;
  double* sums;
  T* results;
  std::size_t stride;  // distance between rows of `results`

  void range(std::size_t begin, std::size_t end) const {
    for (std::size_t row = begin; row < end; ++row) {
      T* const x = scores + row * attention_block;
      T* const y = results + row * stride;
      const std::size_t n = block.keys_of(row);
      const T here = row_max<T>(x, n);
      const T max = here > maxima[row] ? here : maxima[row];
      const T correction = fast_exp<T>(maxima[row] - max);
      const bool first = block.key == 0;
      sums[row] = (first ? 0 : sums[row] * static_cast<double>(correction)) + row_exponentials<T>(x, x, max, n);
      maxima[row] = max;
      for (std::size_t k = n; k < block.keys; ++k) x[k] = 0;
      if (!first) independent_loop(0, block.shape.width, [=](std::size_t d) { y[d] *= correction; });
      if (block.dropout.drops())
        block.for_each_word(row,
                            [x, d = block.dropout](std::size_t k, std::uint32_t word) { x[k] = d.apply(x[k], word); });
    }
  }
};

/// Divides results by the sums and stores the logarithms of the sums.
template <class T> struct attention_quotients {
  const T* maxima;
  const double* sums;
  T* results;
  std::size_t stride, width;
  T* log_sums;

  void range(std::size_t begin, std::size_t end) const {
    for (std::size_t row = begin; row < end; ++row) {
      T* const y = results + row * stride;
      const T factor = static_cast<T>(1 / sums[row]);
      independent_loop(0, width, [=](std::size_t d) { y[d] *= factor; });
      log_sums[row] = static_cast<T>(static_cast<double>(maxima[row]) + std::log(sums[row]));
    }
  }
};

/// Replaces scores by probabilities after dropout. Replaces the probabilities' gradients dp by scale p (dp - product),
/// the gradients of the unscaled scores. Here p is the probability before dropout and dp includes dropout.
template <class T> struct attention_gradients {
  static constexpr bool computes_much = !avx512_by_clang;  // clang's code would not be faster

  attention_scores<T> block;
  T* scores;
  T* gradients;
  const T* log_sums;
  const T* products;
  T scale;

  void range(std::size_t begin, std::size_t end) const {
    for (std::size_t row = begin; row < end; ++row) {
      T* const p = scores + row * attention_block;
      T* const dp = gradients + row * attention_block;
      const std::size_t n = block.keys_of(row);
      const T log_sum = log_sums[row], product = products[row], factor = scale;
      row_exponentials<T>(p, p, log_sum, n);
      for (std::size_t k = n; k < block.keys; ++k) p[k] = dp[k] = 0;
      if (!block.dropout.drops()) {
        independent_loop(0, block.keys, [=](std::size_t k) { dp[k] = factor * p[k] * (dp[k] - product); });
        continue;
      }
      block.for_each_word(row, [=, d = block.dropout](std::size_t k, std::uint32_t word) {
        dp[k] = factor * p[k] * (d.apply(dp[k], word) - product);
        p[k] = d.apply(p[k], word);
      });
    }
  }
};

}  // namespace devplace::detail
