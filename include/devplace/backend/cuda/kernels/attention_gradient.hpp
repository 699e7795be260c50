// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/attention.hpp>
#include <devplace/ops/detail/attention_arguments.hpp>
#include <devplace/ops/detail/exponential.hpp>

namespace devplace::detail {

/// Base of both gradient kernels' tiles.
template <class T, unsigned Columns, class Thread> struct attention_gradient_tile : attention_tile<T, Columns, Thread> {
  using base = attention_tile<T, Columns, Thread>;
  using base::warp_rows;

  const attention_gradient_arguments<T>& g;
  std::size_t sequence;
  const T* q;
  const T* k;
  const T* v;
  const T* dy;
  std::size_t stride;  // distance between rows of q, k and v
  attention_dropout<T> dropout;

  DEVPLACE_DEVICE attention_gradient_tile(Thread& t, const attention_gradient_arguments<T>& arguments,
                                          std::size_t index)
      : base(t, arguments.shape),
        g(arguments),
        sequence(index),
        q(g.queries + g.shape.first_query(index)),
        k(q + g.shape.row()),
        v(k + g.shape.row()),
        dy(g.dresults + g.shape.first_result(index)),
        stride(3 * g.shape.row()),
        dropout(g.dropout.resolved()) {}

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
    const attention_gradient_tile<T, Columns, Thread> tile(t, g, sequence);
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

template <unsigned Columns, floating_element T, class Launch>
void launch_attention_gradient(const attention_gradient_arguments<T>& g, const Launch& launch) {
  const attention_gradient_kernel<T, Columns, false> of_queries{{}, g};
  launch(of_queries.blocks(g.shape), of_queries);
  const attention_gradient_kernel<T, Columns, true> of_keys{{}, g};
  launch(of_keys.blocks(g.shape), of_keys);
}

}  // namespace devplace::detail
