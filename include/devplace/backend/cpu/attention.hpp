// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/backend/cpu/detail/attention_rows.hpp>
#include <devplace/backend/cpu/detail/gemm_builtin.hpp>
#include <devplace/backend/cpu/detail/gemm_split.hpp>
#include <devplace/backend/cpu/detail/vector_loops.hpp>
#include <devplace/backend/cpu/for_each.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/parallel_ranges.hpp>
#include <devplace/ops/attention.hpp>

// All block products use the built-in engine, because team members may call it concurrently.

namespace devplace::detail {

template <class T> struct attention_matrix {
  T* data;
  std::size_t stride;

  T* row(std::size_t i) const { return data + i * stride; }
};

/// Computes c [m, n] = alpha a op(b) + (add ? c : 0), where a is [m, k], or [k, m] with `transpose_a`.
template <class T>
void attention_product(bool add, const attention_matrix<T>& c, std::size_t m, std::size_t n, std::size_t k,
                       const attention_matrix<const T>& a, bool transpose_a, const attention_matrix<const T>& b,
                       bool transpose_b, T alpha = 1) {
  gemm_builtin::run(gemm_arguments<T>{m, n, k, transpose_a, transpose_b, alpha, a.data, a.stride, b.data, b.stride,
                                      add ? T{1} : T{0}, c.data, c.stride});
}

template <class T> void attend(const attention_arguments<T>& g, std::size_t sequence, std::size_t query) {
  const attention_shape& s = g.shape;
  const std::size_t queries = std::min(attention_block, s.length - query);
  const attention_matrix<const T> q{g.queries + s.first_query(sequence), 3 * s.row()};
  const attention_matrix<T> y{g.results + s.first_result(sequence) + query * s.row(), s.row()};
  alignas(64) T scores[attention_block * attention_block];
  T maxima[attention_block];
  double sums[attention_block];
  std::fill_n(maxima, attention_block, -infinity<T>);
  const std::size_t end = s.causal ? query + queries : s.length;
  for (std::size_t key = 0; key < end; key += attention_block) {
    const std::size_t keys = std::min(attention_block, s.length - key);
    const attention_matrix<const T> k{q.row(key) + s.row(), q.stride}, v{k.data + s.row(), q.stride};
    attention_product<T>(false, {scores, attention_block}, queries, keys, s.width, {q.row(query), q.stride}, false, k,
                         true, g.scale);
    run_range(
        attention_exponentials<T>{{s, g.dropout, sequence, query, key, keys}, scores, maxima, sums, y.data, y.stride},
        0, queries);
    attention_product<T>(key != 0, y, queries, s.width, keys, {scores, attention_block}, false, v, false);
  }
  run_range(attention_quotients<T>{maxima, sums, y.data, y.stride, s.width, g.log_sums + sequence * s.length + query},
            0, queries);
}

template <class T> void attend_backward(const attention_gradient_arguments<T>& g, std::size_t sequence) {
  const attention_shape& s = g.shape;
  const attention_matrix<const T> q{g.queries + s.first_query(sequence), 3 * s.row()};
  const attention_matrix<const T> k{q.data + s.row(), q.stride}, v{k.data + s.row(), q.stride};
  const attention_matrix<T> dq{g.dqueries + s.first_query(sequence), q.stride};
  const attention_matrix<T> dk{dq.data + s.row(), q.stride}, dv{dk.data + s.row(), q.stride};
  const attention_matrix<const T> dy{g.dresults + s.first_result(sequence), s.row()};
  alignas(64) T scores[attention_block * attention_block], gradients[attention_block * attention_block];
  for (std::size_t key = 0; key < s.length; key += attention_block) {
    const std::size_t keys = std::min(attention_block, s.length - key), first = s.causal ? key : 0;
    for (std::size_t query = first; query < s.length; query += attention_block) {
      const std::size_t queries = std::min(attention_block, s.length - query);
      const attention_matrix<const T> here{q.row(query), q.stride}, dy_here{dy.row(query), dy.stride};
      attention_product<T>(false, {scores, attention_block}, queries, keys, s.width, here, false,
                           {k.row(key), k.stride}, true, g.scale);
      attention_product<T>(false, {gradients, attention_block}, queries, keys, s.width, dy_here, false,
                           {v.row(key), v.stride}, true);
      run_range(attention_gradients<T>{{s, g.dropout, sequence, query, key, keys},
                                       scores,
                                       gradients,
                                       g.log_sums + sequence * s.length + query,
                                       g.products + sequence * s.length + query,
                                       g.scale},
                0, queries);
      attention_product<T>(query != first, {dv.row(key), dv.stride}, keys, s.width, queries, {scores, attention_block},
                           true, dy_here, false);
      attention_product<T>(query != first, {dk.row(key), dk.stride}, keys, s.width, queries,
                           {gradients, attention_block}, true, here, false);
      attention_product<T>(key != 0, {dq.row(query), dq.stride}, queries, s.width, keys, {gradients, attention_block},
                           false, {k.row(key), k.stride}, false);
    }
  }
}

}  // namespace devplace::detail

namespace devplace {

/// Threads compute different blocks of queries.
template <> struct implementation<backend::cpu, op::attention> {
  template <class T, class Columns> static void run(int, const detail::attention_arguments<T>& g, Columns) {
    const detail::attention_shape& s = g.shape;
    const std::size_t blocks = detail::divided_up(s.length, detail::attention_block);
    detail::parallel_indices(
        s.sequences() * blocks, detail::tasks_per_thread(2 * detail::attention_block * s.length * s.width),
        [&](std::size_t i) { detail::attend(g, i / blocks, i % blocks * detail::attention_block); });
  }
};

/// Threads compute different heads and samples.
template <> struct implementation<backend::cpu, op::attention_gradient> {
  template <class T, class Columns> static void run(int, const detail::attention_gradient_arguments<T>& g, Columns) {
    const detail::attention_shape& s = g.shape;
    const detail::attention_products<T> products{s, g.results, g.dresults, g.products};
    implementation<backend::cpu, op::for_each>::run(0, s.sequences() * s.length, 1 + 16384 / s.width, products);
    detail::parallel_indices(s.sequences(), detail::tasks_per_thread(5 * s.length * s.length * s.width),
                             [&](std::size_t sequence) { detail::attend_backward(g, sequence); });
  }
};

}  // namespace devplace
