// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by mixed_kernels.hpp only: the kernel for products of bf16 and half packed as float.

/// Stores sums of 16-bit products, for all kernels that use this instruction set's vectors.
template <std::size_t Columns> struct mixed_storing {
  static constexpr std::size_t columns = Columns, lanes = vector_bytes / sizeof(float);
  using vector = typename vector_of<float, vector_bytes>::type;
  using loaded = typename vector_of<float, vector_bytes>::unaligned;

  /// A thread's state during a product: none.
  struct session {};

  DEVPLACE_TARGET static void add(float* sums, const float* kept, std::size_t stride, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < Columns; j += lanes)
        *reinterpret_cast<loaded*>(sums + i * Columns + j) += *reinterpret_cast<const loaded*>(kept + i * stride + j);
  }
  DEVPLACE_TARGET static void keep(const float* sums, float* kept, std::size_t stride, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) std::memcpy(kept + i * stride, sums + i * Columns, Columns * sizeof(float));
  }

  /// Computes C = alpha sum + beta C + bias, then applies ReLU if `tile.relu`. First converts the old elements and the
  /// bias to rows of full width, so that the same vector instructions compute all elements.
  template <class T, class Result>
  DEVPLACE_TARGET static void store(const float* sums, const mixed_tile<T, Result>& tile) {
    float bias[Columns], old[Columns];
    std::memset(bias, 0, sizeof bias);  // also if all are set below, which g++ -O2 does not see
    if (tile.columns < Columns) std::memset(old, 0, sizeof old);
    if (tile.bias != nullptr) convert_array(bias, tile.bias, tile.columns);
    const vector zero{};
    for (std::size_t i = 0; i < tile.rows; ++i) {
      Result* const to = tile.c + i * tile.ldc;
      if (tile.beta != 0) convert_array(old, to, tile.columns);
      float row[Columns];
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Columns; j += lanes) {
        vector x = tile.alpha * *reinterpret_cast<const loaded*>(sums + i * Columns + j);
        if (tile.beta != 0) x += tile.beta * *reinterpret_cast<const loaded*>(old + j);
        if (tile.bias != nullptr) x += *reinterpret_cast<const loaded*>(bias + j);
        if (tile.relu) x = x < zero ? zero : x;
        *reinterpret_cast<loaded*>(row + j) = x;
      }
      convert_array(to, row, tile.columns);
    }
  }
};

/// Transposes L rows of a 16-bit matrix, whose elements are contiguous along p, into a panel of floats.
template <std::size_t L, class T>
DEVPLACE_TARGET inline void transpose_as_float(float* __restrict target, std::size_t width, const T* __restrict source,
                                               std::size_t stride_i, std::size_t depth) {
  std::size_t p = 0;
  for (; p + L <= depth; p += L) {
    float block[L * L];
    for (std::size_t l = 0; l < L; ++l) convert<L>(block + l * L, source + l * stride_i + p);
    transpose<float, L>(target + p * width, width, block, L);
  }
  for (; p < depth; ++p)
    for (std::size_t l = 0; l < L; ++l) target[p * width + l] = source[l * stride_i + p];
}

/// Copies `count` rows (or columns) of a 16-bit matrix into a panel [depth][width] of floats.
[[gnu::noinline]] DEVPLACE_TARGET inline void pack(float* __restrict target, std::size_t width,
                                                   const half_precision_element auto* __restrict source,
                                                   std::size_t stride_i, std::size_t stride_p, std::size_t count,
                                                   std::size_t depth) {
  if (stride_i == 1 && count == width) {
    for (std::size_t p = 0; p < depth; ++p) convert_array(target + p * width, source + p * stride_p, width);
    return;
  }
  constexpr std::size_t lanes = pack_bytes / sizeof(float);
  std::size_t i = 0;
  if (stride_p == 1) {
    for (; i + lanes <= count; i += lanes)
      transpose_as_float<lanes>(target + i, width, source + i * stride_i, stride_i, depth);
    if constexpr (lanes == 8) {
      for (; i + 4 <= count; i += 4) transpose_as_float<4>(target + i, width, source + i * stride_i, stride_i, depth);
    }
  }
  if (i == width) return;
  for (std::size_t p = 0; p < depth; ++p) {
    for (std::size_t l = i; l < count; ++l) target[p * width + l] = source[l * stride_i + p * stride_p];
    for (std::size_t l = count; l < width; ++l) target[p * width + l] = 0;
  }
}

/// Multiplies in float; see mixed_product.
struct float_kernel : mixed_storing<2 * vector_bytes / sizeof(float)> {
  static constexpr std::size_t rows = tile_rows, few_rows = 2, pairs = 1, depth_step = 1;

  template <std::size_t Rows, class T>
  DEVPLACE_TARGET static void pack_rows(float* target, const T* source, std::size_t stride_i, std::size_t stride_p,
                                        std::size_t count, std::size_t depth) {
    pack(target, Rows, source, stride_i, stride_p, count, depth);
  }
  template <std::size_t Columns, class T>
  DEVPLACE_TARGET static void pack_columns(float* target, const T* source, std::size_t stride_j, std::size_t stride_p,
                                           std::size_t count, std::size_t depth) {
    pack(target, Columns, source, stride_j, stride_p, count, depth);
  }
  template <std::size_t Rows>
  DEVPLACE_TARGET static void sums(std::size_t depth, const float* a, const float* b, float* to) {
    tile<float, Rows, 2>(depth, a, 1, Rows, b, columns, to, columns, {1, 0, nullptr, false});
  }
};

/// Computes products of few rows as dot products along k, unpacked. Requires an untransposed A and a transposed B.
template <class T, class Result>
DEVPLACE_TARGET void mixed_dot_range(const gemm_arguments<T, Result>& g, const gemm_range& range) {
  const std::size_t whole = g.k / lanes<float> * lanes<float>;
  for (std::size_t i = range.row_begin; i < range.row_end; ++i)
    for (std::size_t j0 = range.column_begin; j0 < range.column_end; j0 += 4) {
      const T* const a = g.a + i * g.lda;
      const T* b[4];
      for (std::size_t j = 0; j < 4; ++j) b[j] = g.b + smaller(j0 + j, range.column_end - 1) * g.ldb;
      vector<float> sums[4] = {};
      for (std::size_t p = 0; p < whole; p += lanes<float>) {
        vector<float> from_a{}, from_b{};  // initialised: g++ -O2 warns otherwise
        convert<lanes<float>>(reinterpret_cast<float*>(&from_a), a + p);
        DEVPLACE_UNROLL
        for (std::size_t j = 0; j < 4; ++j) {
          convert<lanes<float>>(reinterpret_cast<float*>(&from_b), b[j] + p);
          sums[j] += from_a * from_b;
        }
      }
      float total[4];
      add_lanes<float, vector_bytes>(sums, total);
      for (std::size_t j = 0; j < 4 && j0 + j < range.column_end; ++j) {
        for (std::size_t p = whole; p < g.k; ++p) total[j] += a[p] * b[j][p];
        Result& c = g.c[i * g.ldc + j0 + j];
        const float x = g.alpha * total[j];
        c = Result(gemm_finish(g, g.beta == 0 ? x : x + g.beta * c, j0 + j));
      }
    }
}
