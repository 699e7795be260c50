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

template <class T, unsigned Columns>
struct attention_queries_kernel : attention_kernel<attention_queries_kernel<T, Columns>> {
  attention_gradient_arguments<T> g;

  template <class Thread> DEVPLACE_DEVICE void run(Thread& t, std::size_t sequence, std::size_t first) const {
    const attention_gradient_tile<T, Columns, Thread> tile(t, g, sequence);
    const attention_shape& s = g.shape;
    constexpr unsigned rows = tile.warp_rows;
    typename attention_tile<T, Columns, Thread>::sums dq;
    T p[rows], dp[rows];
    for (std::size_t at = 0; at < s.length && (!s.causal || at <= first); at += 32) {
      tile.products(p, tile.q, tile.stride, first, tile.k, tile.stride, at);
      tile.products(dp, tile.dy, s.row(), first, tile.v, tile.stride, at);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned r = 0; r < rows; ++r)
        tile.differentiate(p[r], dp[r], first + tile.first_row() + r, at + tile.lane());
      tile.add(dq, dp, tile.k, tile.stride, at);
    }
    const T ones[rows] = {1, 1, 1, 1};
    tile.store(g.dqueries + s.first_query(sequence), tile.stride, first, dq, ones);
  }
};

/// Computes the gradients of 32 keys and of their values.
template <class T, unsigned Columns>
struct attention_keys_kernel : attention_kernel<attention_keys_kernel<T, Columns>> {
  attention_gradient_arguments<T> g;

  template <class Thread> DEVPLACE_DEVICE void run(Thread& t, std::size_t sequence, std::size_t first) const {
    const attention_gradient_tile<T, Columns, Thread> tile(t, g, sequence);
    const attention_shape& s = g.shape;
    constexpr unsigned rows = tile.warp_rows;
    typename attention_tile<T, Columns, Thread>::sums dk, dv;
    T p[rows], dp[rows];
    for (std::size_t at = s.causal ? first : 0; at < s.length; at += 32) {
      tile.products(p, tile.k, tile.stride, first, tile.q, tile.stride, at);
      tile.products(dp, tile.v, tile.stride, first, tile.dy, s.row(), at);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned r = 0; r < rows; ++r)
        tile.differentiate(p[r], dp[r], at + tile.lane(), first + tile.first_row() + r);
      tile.add(dv, p, tile.dy, s.row(), at);
      tile.add(dk, dp, tile.q, tile.stride, at);
    }
    const T ones[rows] = {1, 1, 1, 1};
    T* const to = g.dqueries + s.first_query(sequence) + s.row();
    tile.store(to, tile.stride, first, dk, ones);
    tile.store(to + s.row(), tile.stride, first, dv, ones);
  }
};

template <unsigned Columns, class T, class Launch>
void launch_attention_gradient(const attention_gradient_arguments<T>& g, const Launch& launch) {
  const attention_queries_kernel<T, Columns> of_queries{{}, g};
  launch(of_queries.blocks(g.shape), of_queries);
  const attention_keys_kernel<T, Columns> of_keys{{}, g};
  launch(of_keys.blocks(g.shape), of_keys);
}

}  // namespace devplace::detail
