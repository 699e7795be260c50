// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/philox.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// Scaled dot-product attention of `samples` sequences of `length` positions, each with `heads` heads of `width`
/// elements. Arrays are contiguous: queries, keys and values of a position lie in one row, [samples, length, 3, heads,
/// width], and results are [samples, length, heads, width].
struct attention_shape {
  std::size_t samples, length, heads, width;
  bool causal;  ///< whether a position attends only to itself and earlier positions

  friend auto operator<=>(const attention_shape&, const attention_shape&) = default;

  DEVPLACE_HD constexpr std::size_t row() const { return heads * width; }
  /// Number of sequences: one for each sample and head.
  DEVPLACE_HD constexpr std::size_t sequences() const { return samples * heads; }
  /// Index of a sequence's first query. The first key lies row() elements behind the query, and the first value
  /// 2 row() elements behind it.
  DEVPLACE_HD constexpr std::size_t first_query(std::size_t sequence) const {
    return 3 * first_result(sequence) - 2 * in_row(sequence);
  }
  DEVPLACE_HD constexpr std::size_t first_result(std::size_t sequence) const {
    return sequence / heads * length * row() + in_row(sequence);
  }

 private:
  DEVPLACE_HD constexpr std::size_t in_row(std::size_t sequence) const { return sequence % heads * width; }
};

/// Dropout of attention probabilities: selects the probabilities to set to 0, and stores the factor for the others.
template <class T> struct attention_dropout {
  layer_key key{};
  std::uint64_t first_sample = 0;  ///< index, in the whole batch, of sample 0
  std::uint64_t threshold = 0;     ///< a random 32-bit word below the threshold drops a probability; 0: no dropout
  T scale = 1;

  DEVPLACE_HD constexpr attention_dropout resolved() const {
    return drops() ? attention_dropout{key.resolved(), first_sample, threshold, scale} : *this;
  }
  DEVPLACE_HD constexpr bool drops() const { return threshold != 0; }
  DEVPLACE_HD constexpr random_sequence of_sample(std::size_t sample) const {
    return {key.value, first_sample + sample};
  }
  /// The block of random words for a query's keys 0 to 3; the next block is for keys 4 to 7, and so on.
  DEVPLACE_HD static constexpr std::uint64_t first_block(const attention_shape& s, std::size_t head,
                                                         std::size_t query) {
    return (std::uint64_t{head} * s.length + query) * divided_up(s.length, 4);
  }
  /// The random words of a query for the keys from 4 floor(first / 4) on.
  DEVPLACE_HD constexpr philox_block words(const attention_shape& s, std::size_t sequence, std::size_t query,
                                           std::size_t first) const {
    return of_sample(sequence / s.heads).block(first_block(s, sequence % s.heads, query) + first / 4);
  }
  DEVPLACE_HD constexpr T apply(T x, std::uint32_t word) const { return word < threshold ? T{0} : x * scale; }
};

/// results = dropout(softmax(scale q k^T)) v for each head. `log_sums` [samples, heads, length] are the logarithms of
/// the softmaxes' denominators, log sum exp(scale q k^T). With 16-bit elements, scores and sums are float.
template <class T> struct attention_arguments {
  attention_shape shape;
  computed_t<T> scale;
  attention_dropout<computed_t<T>> dropout;
  const T* queries;  // with keys and values
  T* results;
  computed_t<T>* log_sums;
};

/// `dqueries` receives the gradients of queries, keys and values, in the layout of `queries`. `dresults` are the
/// gradients of the results. `products` [samples, heads, length] is workspace for the inner products of the results and
/// their gradients.
template <class T> struct attention_gradient_arguments {
  attention_shape shape;
  computed_t<T> scale;
  attention_dropout<computed_t<T>> dropout;
  const T* queries;
  const T* results;
  const computed_t<T>* log_sums;
  const T* dresults;
  T* dqueries;
  computed_t<T>* products;
};

/// Each of 32 GPU threads has `Columns` elements of a head.
template <unsigned Columns> struct columns_of_head {};

/// Computes `products` of attention_gradient_arguments.
template <class T> struct attention_products {
  attention_shape shape;
  const T* results;
  const T* dresults;
  computed_t<T>* products;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t sequence = i / shape.length;
    const std::size_t begin = shape.first_result(sequence) + i % shape.length * shape.row();
    computed_t<T> sum{0};
    for (std::size_t k = begin; k < begin + shape.width; ++k)
      sum += static_cast<computed_t<T>>(results[k]) * static_cast<computed_t<T>>(dresults[k]);
    products[i] = sum;
  }
};

}  // namespace devplace::detail
