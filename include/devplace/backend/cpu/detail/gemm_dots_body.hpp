// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by instruction_sets.hpp only: products of few rows or columns.

/// Copies elements [begin, depth) of each row, which are fewer than a vector's lanes, and appends zeros.
template <class T>
[[gnu::noinline]] DEVPLACE_TARGET inline void rest_of_rows(T (*__restrict rest)[vector_bytes / sizeof(T)],
                                                           const T* const* rows, std::size_t count, std::size_t begin,
                                                           std::size_t depth) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t lane = 0; lane < vector_bytes / sizeof(T); ++lane)
      rest[i][lane] = begin + lane < depth ? rows[i][begin + lane] : T{0};
}

/// Computes Rows x Columns elements of C as dot products of rows of A and rows of the transposed B, both contiguous,
/// without packing. `a` and `b` are arrays of pointers to the rows; writes the dot products to `out`.
template <class T, std::size_t Rows, std::size_t Columns>
[[gnu::noinline]] DEVPLACE_TARGET inline void dot_tile(std::size_t depth, const T* const* a, const T* const* b,
                                                       T (*out)[4]) {
  vector<T> sum[Rows][4] = {};
  const std::size_t whole = depth / lanes<T> * lanes<T>;
  for (std::size_t p = 0; p < whole; p += lanes<T>) {
    vector<T> from_b[Columns];
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Columns; ++j) {
      from_b[j] = *reinterpret_cast<const loaded<T>*>(b[j] + p);
      if constexpr (Rows > 1) keep_in_register(from_b[j]);
    }
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Rows; ++i) {
      vector<T> from_a = *reinterpret_cast<const loaded<T>*>(a[i] + p);
      keep_in_register(from_a);
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Columns; ++j) sum[i][j] += from_a * from_b[j];
    }
  }
  if (whole < depth) {
    T rest[Rows + Columns][lanes<T>];
    rest_of_rows(rest, a, Rows, whole, depth);
    rest_of_rows(rest + Rows, b, Columns, whole, depth);
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Rows; ++i) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Columns; ++j) {
        sum[i][j] += *reinterpret_cast<const loaded<T>*>(rest[i]) * *reinterpret_cast<const loaded<T>*>(rest[Rows + j]);
      }
    }
  }
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Rows; ++i) add_lanes<T, vector_bytes>(sum[i], out[i]);
}

/// Stores up to 4 adjacent elements of a row of C.
template <class T>
DEVPLACE_TARGET inline void finish_dots(const gemm_arguments<T>& g, const T (&sum)[4], T* c, std::size_t column,
                                        std::size_t count) {
  if (count < 4) {
    for (std::size_t j = 0; j < count; ++j) {
      T x = g.alpha * sum[j];
      if (g.beta != T{0}) x += g.beta * c[j];
      c[j] = gemm_finish(g, x, column + j);
    }
    return;
  }
  using vector = typename vector_of<T, 4 * sizeof(T)>::type;
  using loaded = typename vector_of<T, 4 * sizeof(T)>::unaligned;
  const vector zero{};
  vector x = g.alpha * *reinterpret_cast<const loaded*>(sum);
  if (g.beta != T{0}) x += g.beta * *reinterpret_cast<const loaded*>(c);
  if (g.bias != nullptr) x += *reinterpret_cast<const loaded*>(g.bias + column);
  if (g.epilogue == epilogue::relu) x = x < zero ? zero : x;
  *reinterpret_cast<loaded*>(c) = x;
}

/// Computes the product of multiply_range as dot products along k, for few rows or columns, where packing costs more
/// than it saves. Requires an untransposed A and a transposed B.
template <class T> DEVPLACE_TARGET void dot_range(const gemm_arguments<T>& g, const gemm_range& range) {
  for (std::size_t rows, row = range.row_begin; row < range.row_end; row += rows) {
    const std::size_t left = range.row_end - row;
    rows = left > 2 ? smaller(4, left) : 1;
    const T *a[4], *b[4];
    for (std::size_t i = 0; i < 4; ++i) keep_in_register(a[i] = g.a + smaller(row + i, range.row_end - 1) * g.lda);
    for (std::size_t j0 = range.column_begin; j0 < range.column_end; j0 += 4) {
      const std::size_t columns = smaller(4, range.column_end - j0);
      for (std::size_t j = 0; j < 4; ++j) keep_in_register(b[j] = g.b + smaller(j0 + j, range.column_end - 1) * g.ldb);
      T sum[4][4];
      if (rows == 1) {
        dot_tile<T, 1, 4>(g.k, a, b, sum);
      } else if (columns > 2) {
        // With 16 registers, the sums of 4 rows would be stored and loaded again at each step.
        constexpr std::size_t together = vector_bytes == 64 ? 4 : 2;
        for (std::size_t i = 0; i < 4; i += together) dot_tile<T, together, 4>(g.k, a + i, b, sum + i);
      } else {
        dot_tile<T, 4, 2>(g.k, a, b, sum);
      }
      for (std::size_t i = 0; i < rows; ++i) finish_dots(g, sum[i], g.c + (row + i) * g.ldc + j0, j0, columns);
    }
  }
}
