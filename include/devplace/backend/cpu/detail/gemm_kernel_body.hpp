// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by instruction_sets.hpp only: the register tiles of the matrix engine (gemm_blocks.hpp).

/// Computes one register tile of C, Rows x (Vectors * lanes). In panels of B, the elements of one p are contiguous.
template <class T, std::size_t Rows, std::size_t Vectors>
[[gnu::noinline]] DEVPLACE_TARGET inline void tile(std::size_t depth, const T* __restrict a, std::size_t across_a,
                                                   std::size_t step_a, const T* __restrict b, std::size_t step_b,
                                                   T* __restrict c, std::size_t ldc, const tile_update<T>& update) {
  vector<T> sum[Rows][Vectors] = {};
  if (update.far) {
    const T* row = c;
    for (std::size_t i = 0; i < Rows; ++i, row += ldc) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Vectors; ++j) __builtin_prefetch(row + j * lanes<T>, 1);
    }
  }
  for (std::size_t p = 0; p < depth; ++p) {
    vector<T> row[Vectors];
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) row[j] = *reinterpret_cast<const loaded<T>*>(b + j * lanes<T>);
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Rows; ++i) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Vectors; ++j) sum[i][j] += a[i * across_a] * row[j];
    }
    a += step_a;
    b += step_b;
  }
  // One branch for the whole tile instead of one per vector: stores dominate products with a small depth.
  if (update.alpha != T{1}) {
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Rows; ++i) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Vectors; ++j) sum[i][j] *= update.alpha;
    }
  }
  if (update.beta != T{0}) {
    const T* row = c;
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Rows; ++i, row += ldc) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Vectors; ++j)
        sum[i][j] += update.beta * *reinterpret_cast<const loaded<T>*>(row + j * lanes<T>);
    }
  }
  if (update.bias != nullptr) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) {
      const vector<T> bias = *reinterpret_cast<const loaded<T>*>(update.bias + j * lanes<T>);
      DEVPLACE_UNROLL
      for (std::size_t i = 0; i < Rows; ++i) sum[i][j] += bias;
    }
  }
  if (update.relu) {
    const vector<T> zero{};
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Rows; ++i) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Vectors; ++j) sum[i][j] = sum[i][j] < zero ? zero : sum[i][j];
    }
  }
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Rows; ++i, c += ldc) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) *reinterpret_cast<loaded<T>*>(c + j * lanes<T>) = sum[i][j];
  }
}
