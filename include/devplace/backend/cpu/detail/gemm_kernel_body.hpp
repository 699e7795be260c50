// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by instruction_sets.hpp only.
//
// The scheme follows Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008): blocks of op(B)
// and op(A) stay in the second-level cache, and a register tile holds rows x columns of C. Every element of C is a sum
// over p in ascending order in any tile, so results do not depend on how threads divide the matrix.

/// How a tile stores its sums: C = alpha sum + beta C + bias, then ReLU if `relu`.
template <class T> struct tile_update {
  T alpha, beta;
  const T* bias;
  bool relu;
  bool far = false;  ///< whether C exceeds the second-level cache and is prefetched
};

/// Elements of a panel of A or B, packed or in the caller's matrix: element (i, p) is data[i * across + p * step].
template <class T> struct panel_view {
  const T* data;
  std::size_t step, across = 1;
};

/// Computes one register tile of C, Rows x (Vectors * lanes). In panels of B, the elements of one p are contiguous.
template <class T, std::size_t Rows, std::size_t Vectors>
[[gnu::noinline]] DEVPLACE_TARGET inline void tile(std::size_t depth, const T* __restrict a, std::size_t across_a,
                                                   std::size_t step_a, const T* __restrict b, std::size_t step_b,
                                                   T* __restrict c, std::size_t ldc, const tile_update<T>& update) {
  using vector = typename vector_of<T, vector_bytes>::type;
  using loaded = typename vector_of<T, vector_bytes>::unaligned;
  constexpr std::size_t lanes = vector_bytes / sizeof(T);
  vector sum[Rows][Vectors];
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Rows; ++i) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) sum[i][j] = vector{};
  }
  if (update.far) {
    const T* row = c;
    for (std::size_t i = 0; i < Rows; ++i, row += ldc) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Vectors; ++j) __builtin_prefetch(row + j * lanes, 1);
    }
  }
  for (std::size_t p = 0; p < depth; ++p) {
    vector row[Vectors];
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) row[j] = *reinterpret_cast<const loaded*>(b + j * lanes);
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
        sum[i][j] += update.beta * *reinterpret_cast<const loaded*>(row + j * lanes);
    }
  }
  if (update.bias != nullptr) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) {
      const vector bias = *reinterpret_cast<const loaded*>(update.bias + j * lanes);
      DEVPLACE_UNROLL
      for (std::size_t i = 0; i < Rows; ++i) sum[i][j] += bias;
    }
  }
  if (update.relu) {
    const vector zero{};
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Rows; ++i) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Vectors; ++j) sum[i][j] = sum[i][j] < zero ? zero : sum[i][j];
    }
  }
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Rows; ++i, c += ldc) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) *reinterpret_cast<loaded*>(c + j * lanes) = sum[i][j];
  }
}

/// A full-size local buffer, with the bias, for a tile at the edge of C.
template <class T> struct edge_of_tile {
  static constexpr std::size_t lanes = vector_bytes / sizeof(T);
  T c[tile_rows * 2 * lanes];
  T bias[2 * lanes];

  [[gnu::noinline]] DEVPLACE_TARGET void load(const T* from, std::size_t ldc, std::size_t width, tile_update<T>& update,
                                              std::size_t rows, std::size_t columns) {
    if (update.beta != T{0}) {
      std::memset(c, 0, sizeof(c));
      copy_rows<T, lanes>(c, width, from, ldc, rows, columns);
    }
    if (update.bias != nullptr) {
      std::memset(bias, 0, sizeof(bias));
      copy_rows<T, lanes>(bias, width, update.bias, 0, 1, columns);
      update.bias = bias;
    }
  }
  DEVPLACE_TARGET void store(T* to, std::size_t ldc, std::size_t width, std::size_t rows, std::size_t columns) const {
    copy_rows<T, lanes>(to, ldc, c, width, rows, columns);
  }
};

/// Returns the width of a panel of A or B: `full`, or `narrow` if at most `narrow` rows (columns of B) are left. With
/// full panels, products with few rows (inference) or columns (10 classes) would mostly multiply zeros.
constexpr std::size_t panel_width(std::size_t left, std::size_t full, std::size_t narrow) {
  return left > narrow ? full : narrow;
}
inline constexpr std::size_t few_rows = 2;

/// Computes the `rows` x `columns` elements of a tile that lie in C; at C's edges, computes a full tile in a local
/// buffer.
template <class T, std::size_t Rows, std::size_t Vectors>
DEVPLACE_TARGET inline void tile_within(std::size_t depth, const panel_view<T>& a, const panel_view<T>& b, T* c,
                                        std::size_t ldc, const tile_update<T>& update, std::size_t rows,
                                        std::size_t columns) {
  constexpr std::size_t width = Vectors * vector_bytes / sizeof(T);
  if (rows == Rows && columns == width)
    return tile<T, Rows, Vectors>(depth, a.data, a.across, a.step, b.data, b.step, c, ldc, update);
  edge_of_tile<T> edge;
  tile_update<T> edge_update = update;
  edge.load(c, ldc, width, edge_update, rows, columns);
  tile<T, Rows, Vectors>(depth, a.data, a.across, a.step, b.data, b.step, edge.c, width, edge_update);
  edge.store(c, ldc, width, rows, columns);
}

template <class T, std::size_t Vectors>
DEVPLACE_TARGET inline void choose_rows(std::size_t depth, const panel_view<T>& a, const panel_view<T>& b, T* c,
                                        std::size_t ldc, const tile_update<T>& update, std::size_t rows,
                                        std::size_t columns) {
  if (rows > few_rows) {
    tile_within<T, tile_rows, Vectors>(depth, a, b, c, ldc, update, rows, columns);
  } else {
    tile_within<T, few_rows, Vectors>(depth, a, b, c, ldc, update, rows, columns);
  }
}

/// Computes the rows and columns of `range`, with `buffer` (gemm_buffer_bytes, 64-byte aligned) for packed blocks.
template <class T>
DEVPLACE_TARGET void multiply_range(const gemm_arguments<T>& g, const gemm_range& range, void* buffer) {
  constexpr std::size_t lanes = vector_bytes / sizeof(T);
  constexpr std::size_t tile_columns = 2 * lanes;
  constexpr std::size_t block_rows = gemm_block_rows<T> / tile_rows * tile_rows;
  T* const packed_a = static_cast<T*>(buffer);
  T* const packed_b = packed_a + gemm_block_rows<T> * gemm_block_depth;
  const std::size_t stride_ai = g.transpose_a ? 1 : g.lda, stride_ap = g.transpose_a ? g.lda : 1;
  const std::size_t stride_bp = g.transpose_b ? 1 : g.ldb, stride_bj = g.transpose_b ? g.ldb : 1;
  const std::size_t all_rows = range.row_end - range.row_begin, all_columns = range.column_end - range.column_begin;
  // Blocks of equal depth: 784 is 2 x 392, not 512 + 272.
  const std::size_t depths = divided_up(g.k, gemm_block_depth);
  const bool far = g.m * g.n * sizeof(T) > std::size_t{2} << 20U;
  // Packing does not pay for matrices in the first-level cache, nor if few tiles read each element. The limit for A is
  // higher: rows of A stay in the cache from one p to the next, but each element of a column has its own cache line.
  const auto is_small = [&](std::size_t stride) { return stride * g.k * sizeof(T) <= std::size_t{16} << 10U; };
  const bool unpacked_a = g.transpose_a ? is_small(g.lda) || all_columns <= tile_columns  //
                                        : all_columns <= 8 * tile_columns;
  const bool unpacked_b = !g.transpose_b && (is_small(g.ldb) || all_rows <= 2 * tile_rows);
  // Packs columns of B just before their first use. If only one block of rows uses packed columns, the next columns
  // overwrite them, so that packed elements stay in the cache.
  const bool one_block = all_rows <= block_rows;
  const std::size_t packed_together = g.transpose_b ? tile_columns : 4 * tile_columns;

  for (std::size_t j0 = range.column_begin; j0 < range.column_end; j0 += gemm_block_columns<T>) {
    const std::size_t columns = smaller(gemm_block_columns<T>, range.column_end - j0);
    for (std::size_t block = 0; block < depths; ++block) {
      const std::size_t p0 = part_begin(g.k, depths, block), depth = part_begin(g.k, depths, block + 1) - p0;
      const bool first = block == 0, last = block + 1 == depths;
      tile_update<T> update{g.alpha, first ? g.beta : T{1}, nullptr, last && g.epilogue == epilogue::relu, far};
      for (std::size_t i0 = range.row_begin; i0 < range.row_end; i0 += block_rows) {
        const std::size_t rows = smaller(block_rows, range.row_end - i0);
        const T* const block_a = g.a + i0 * stride_ai + p0 * stride_ap;
        for (std::size_t i = 0; i < rows; i += tile_rows) {
          const std::size_t height = smaller(tile_rows, rows - i);
          if (unpacked_a && height == panel_width(height, tile_rows, few_rows)) continue;
          const T* const source = block_a + i * stride_ai;
          if (height > few_rows) {
            pack_panel<T, tile_rows>(packed_a + i * depth, source, stride_ai, stride_ap, height, depth);
          } else {
            pack_panel<T, few_rows>(packed_a + i * depth, source, stride_ai, stride_ap, height, depth);
          }
        }
        for (std::size_t j = 0; j < columns; j += tile_columns) {
          const std::size_t width = smaller(tile_columns, columns - j);
          const bool one_vector = width <= lanes;
          const T* const source = g.b + (j0 + j) * stride_bj + p0 * stride_bp;
          panel_view<T> b{source, g.ldb};
          if (!unpacked_b || width != panel_width(width, tile_columns, lanes)) {
            const std::size_t place = unpacked_b ? 0 : j % packed_together;
            T* const target = packed_b + (one_block ? place : j) * depth;
            if (place == 0 && i0 == range.row_begin) {
              const std::size_t together = unpacked_b ? width : smaller(packed_together, columns - j);
              pack_columns(target, source, stride_bj, stride_bp, together, depth);
            }
            b = {target, one_vector ? lanes : tile_columns};
          }
          if (last && g.bias != nullptr) update.bias = g.bias + j0 + j;
          for (std::size_t i = 0; i < rows; i += tile_rows) {
            const std::size_t height = smaller(tile_rows, rows - i), full = panel_width(height, tile_rows, few_rows);
            panel_view<T> a{packed_a + i * depth, full};
            if (unpacked_a && height == full) a = {block_a + i * stride_ai, stride_ap, stride_ai};
            T* const c = g.c + (i0 + i) * g.ldc + j0 + j;
            if (one_vector) {
              choose_rows<T, 1>(depth, a, b, c, g.ldc, update, height, width);
            } else {
              choose_rows<T, 2>(depth, a, b, c, g.ldc, update, height, width);
            }
          }
        }
      }
    }
  }
}
