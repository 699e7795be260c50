// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by instruction_sets.hpp only.
//
// The scheme is that of Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008): blocks of
// op(B) and op(A) that stay in the second-level cache, and a register tile of rows x columns of C. Every element of C
// is a sum over p in ascending order, whatever the tile, so results do not depend on how the matrix is divided among
// threads.

/// What pack_panel leaves over: rows `begin` to `count` - 1 of a panel of `width`, and zeros in those that do not
/// exist. One function for panels of all widths.
template <class T>
[[gnu::noinline]] DEVPLACE_TARGET inline void pack_rest(T* __restrict target, std::size_t width,
                                                        const T* __restrict source, std::size_t stride_i,
                                                        std::size_t stride_p, std::size_t begin, std::size_t count,
                                                        std::size_t depth) {
  for (std::size_t p = 0; p < depth; ++p) {
    for (std::size_t i = begin; i < count; ++i)
      target[p * width + i] = source[i * stride_i + p * stride_p];
    for (std::size_t i = count; i < width; ++i)
      target[p * width + i] = T{0};
  }
}

/// Copies panels of `Width` rows (or columns) of a matrix into [panel][depth][Width]. Element (i, p) of the matrix is
/// source[i * stride_i + p * stride_p], and one of the strides is 1. Only `count` rows exist; the rest of a panel is
/// filled with zeros.
template <class T, std::size_t Width>
DEVPLACE_TARGET inline void pack_panel(T* __restrict target, const T* __restrict source, std::size_t stride_i,
                                       std::size_t stride_p, std::size_t count, std::size_t depth) {
  constexpr std::size_t lanes = power_of_two_within(smaller(pack_bytes / sizeof(T), Width));
  if (stride_i == 1 && count == Width) {
    for (std::size_t p = 0; p < depth; ++p)
      std::memcpy(target + p * Width, source + p * stride_p, Width * sizeof(T));
    return;
  }
  const std::size_t whole = stride_p == 1 ? count / lanes * lanes : 0;
  const std::size_t whole_depth = whole == 0 ? 0 : depth / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes) {
    for (std::size_t p = 0; p < whole_depth; p += lanes) {
      transpose<T, lanes>(target + p * Width + i, Width, source + i * stride_i + p, stride_i);
    }
    for (std::size_t p = whole_depth; p < depth; ++p) {
      for (std::size_t l = i; l < i + lanes; ++l)
        target[p * Width + l] = source[l * stride_i + p];
    }
  }
  if (whole != Width) pack_rest(target, Width, source, stride_i, stride_p, whole, count, depth);
}

/// How a tile stores its sums: C = then(alpha sum + beta C + bias).
template <class T>
struct tile_update {
  T alpha, beta;
  const T* bias;
  bool relu;
  bool far = false;  ///< C is fetched while the sums are computed, because it is larger than the second-level cache
};

/// One register tile of C, Rows x (Vectors * lanes). Step p reads A at a + p * stride_a and B at b + p * stride_b.
template <class T, std::size_t Rows, std::size_t Vectors>
[[gnu::noinline]] DEVPLACE_TARGET inline void tile(std::size_t depth, const T* __restrict a, std::size_t stride_a,
                                                   const T* __restrict b, std::size_t stride_b, T* __restrict c,
                                                   std::size_t ldc, const tile_update<T>& update) {
  using vector = typename vector_of<T, vector_bytes>::type;
  using loaded = typename vector_of<T, vector_bytes>::unaligned;
  constexpr std::size_t lanes = vector_bytes / sizeof(T);
  vector sum[Rows][Vectors];
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Rows; ++i) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j)
      sum[i][j] = vector{};
  }
  if (update.far) {
    for (std::size_t i = 0; i < Rows; ++i) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Vectors; ++j)
        __builtin_prefetch(c + i * ldc + j * lanes, 1);
    }
  }
  for (std::size_t p = 0; p < depth; ++p) {
    vector from_b[Vectors];
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j)
      from_b[j] = *reinterpret_cast<const loaded*>(b + j * lanes);
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Rows; ++i) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Vectors; ++j)
        sum[i][j] += a[i] * from_b[j];
    }
    a += stride_a;
    b += stride_b;
  }
  const vector zero{};
  DEVPLACE_UNROLL
  for (std::size_t j = 0; j < Vectors; ++j) {
    vector bias{};
    if (update.bias != nullptr) bias = *reinterpret_cast<const loaded*>(update.bias + j * lanes);
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Rows; ++i) {
      loaded* const to = reinterpret_cast<loaded*>(c + i * ldc + j * lanes);
      vector x = update.alpha * sum[i][j];
      if (update.beta != T{0}) x += update.beta * *to;
      if (update.bias != nullptr) x += bias;
      if (update.relu) x = x < zero ? zero : x;
      *to = x;
    }
  }
}

/// Elements of C at its edges, in a local buffer of the size of a full tile, and the bias there.
template <class T>
struct edge_of_tile {
  T c[tile_rows * 2 * vector_bytes / sizeof(T)];
  T bias[2 * vector_bytes / sizeof(T)];

  [[gnu::noinline]] DEVPLACE_TARGET void load(const T* from, std::size_t ldc, std::size_t width, tile_update<T>& update,
                                              std::size_t rows, std::size_t columns) {
    for (std::size_t i = 0; i < tile_rows * width; ++i)
      c[i] = T{0};
    if (update.beta != T{0}) {
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
          c[i * width + j] = from[i * ldc + j];
    }
    if (update.bias != nullptr) {
      for (std::size_t j = 0; j < width; ++j)
        bias[j] = j < columns ? update.bias[j] : T{0};
      update.bias = bias;
    }
  }
  [[gnu::noinline]] DEVPLACE_TARGET void store(T* to, std::size_t ldc, std::size_t width, std::size_t rows,
                                               std::size_t columns) const {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        to[i * ldc + j] = c[i * width + j];
  }
};

/// A tile of which only `rows` x `columns` lie in C: at C's edges the full tile is computed in a local buffer.
template <class T, std::size_t Rows, std::size_t Vectors>
DEVPLACE_TARGET inline void tile_within(std::size_t depth, const T* a, std::size_t stride_a, const T* b,
                                        std::size_t stride_b, T* c, std::size_t ldc, tile_update<T> update,
                                        std::size_t rows, std::size_t columns) {
  constexpr std::size_t width = Vectors * vector_bytes / sizeof(T);
  if (rows == Rows && columns == width) return tile<T, Rows, Vectors>(depth, a, stride_a, b, stride_b, c, ldc, update);
  edge_of_tile<T> edge;
  edge.load(c, ldc, width, update, rows, columns);
  tile<T, Rows, Vectors>(depth, a, stride_a, b, stride_b, edge.c, width, update);
  edge.store(c, ldc, width, rows, columns);
}

/// Where the elements of a panel of A or B are read: packed, or in the caller's matrix if packing would not pay off.
template <class T>
struct panel_view {
  const T* data;
  std::size_t stride;
};

/// Panels of A are tile_rows wide. If only a few rows are left, a narrower panel is used, because products with few
/// rows (inference, 10 classes) would otherwise mostly multiply zeros. The same holds for the columns of B.
constexpr std::size_t panel_width(std::size_t left, std::size_t full, std::size_t narrow) {
  return left > narrow ? full : narrow;
}
inline constexpr std::size_t few_rows = 2;

template <class T, std::size_t Vectors>
DEVPLACE_TARGET inline void choose_rows(std::size_t depth, panel_view<T> a, panel_view<T> b, T* c, std::size_t ldc,
                                        const tile_update<T>& update, std::size_t rows, std::size_t columns) {
  if (rows > few_rows) {
    tile_within<T, tile_rows, Vectors>(depth, a.data, a.stride, b.data, b.stride, c, ldc, update, rows, columns);
  } else {
    tile_within<T, few_rows, Vectors>(depth, a.data, a.stride, b.data, b.stride, c, ldc, update, rows, columns);
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
  // Blocks of equal depth: 784 is 2 x 392, not 512 + 272.
  const std::size_t depths = (g.k + gemm_block_depth - 1) / gemm_block_depth;
  const bool far = g.m * g.n * sizeof(T) > std::size_t{2} << 20U;
  // Packing B does not pay off if so few tiles read each of its rows.
  const bool unpacked_b = !g.transpose_b && g.m <= 2 * tile_rows;

  for (std::size_t j0 = range.column_begin; j0 < range.column_end; j0 += gemm_block_columns<T>) {
    const std::size_t columns = smaller(gemm_block_columns<T>, range.column_end - j0);
    for (std::size_t block = 0; block < depths; ++block) {
      const std::size_t p0 = part_begin(g.k, depths, block), depth = part_begin(g.k, depths, block + 1) - p0;
      for (std::size_t j = 0; j < columns; j += tile_columns) {
        const std::size_t width = smaller(tile_columns, columns - j);
        if (unpacked_b && width == panel_width(width, tile_columns, lanes)) continue;
        const T* const source = g.b + (j0 + j) * stride_bj + p0 * stride_bp;
        T* const target = packed_b + j * depth;
        if (width > lanes) {
          pack_panel<T, tile_columns>(target, source, stride_bj, stride_bp, width, depth);
        } else {
          pack_panel<T, lanes>(target, source, stride_bj, stride_bp, width, depth);
        }
      }
      const bool first = block == 0, last = block + 1 == depths;
      const tile_update<T> update{g.alpha, first ? g.beta : T{1}, nullptr, last && g.then == epilogue::relu, far};
      for (std::size_t i0 = range.row_begin; i0 < range.row_end; i0 += block_rows) {
        const std::size_t rows = smaller(block_rows, range.row_end - i0);
        for (std::size_t i = 0; i < rows; i += tile_rows) {
          const std::size_t height = smaller(tile_rows, rows - i);
          const T* const source = g.a + (i0 + i) * stride_ai + p0 * stride_ap;
          if (height > few_rows) {
            pack_panel<T, tile_rows>(packed_a + i * depth, source, stride_ai, stride_ap, height, depth);
          } else {
            pack_panel<T, few_rows>(packed_a + i * depth, source, stride_ai, stride_ap, height, depth);
          }
        }
        for (std::size_t j = 0; j < columns; j += tile_columns) {
          const std::size_t width = smaller(tile_columns, columns - j);
          const bool one_vector = width <= lanes;
          panel_view<T> b{packed_b + j * depth, one_vector ? lanes : tile_columns};
          if (unpacked_b && width == b.stride) b = {g.b + p0 * g.ldb + j0 + j, g.ldb};
          tile_update<T> here = update;
          if (last && g.bias != nullptr) here.bias = g.bias + j0 + j;
          for (std::size_t i = 0; i < rows; i += tile_rows) {
            const std::size_t height = smaller(tile_rows, rows - i);
            const panel_view<T> a{packed_a + i * depth, panel_width(height, tile_rows, few_rows)};
            T* const c = g.c + (i0 + i) * g.ldc + j0 + j;
            if (one_vector) {
              choose_rows<T, 1>(depth, a, b, c, g.ldc, here, height, width);
            } else {
              choose_rows<T, 2>(depth, a, b, c, g.ldc, here, height, width);
            }
          }
        }
      }
    }
  }
}
