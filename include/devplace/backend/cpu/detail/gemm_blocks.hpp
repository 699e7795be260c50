// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>

#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/parallel_ranges.hpp>
#include <devplace/ops/detail/product_arguments.hpp>

// The loops of the matrix engine over blocks and tiles. They are compiled once for all instruction sets, and so have no
// arithmetic of elements, which an instruction set with FMA would round differently.
//
// The scheme follows Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008): blocks of op(B)
// and op(A) stay in the second-level cache, and a register tile holds rows x columns of C. Every element of C is a sum
// over p in ascending order in any tile, so results do not depend on how threads divide the matrix.
namespace devplace::detail {

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

/// The elements of the largest tile: 8 rows of two vectors of 64 bytes.
template <class T> inline constexpr std::size_t most_tile_elements = 8 * 2 * 64 / sizeof(T);

/// The functions and tile sizes of the matrix engine for one instruction set, and the loops that call them.
template <class T> struct gemm_kernels {
  /// See gemm_packing_body.hpp, gemm_kernel_body.hpp and gemm_dots_body.hpp.
  void (*pack)(T* target, std::size_t width, const T* source, std::size_t stride_i, std::size_t stride_p,
               std::size_t count, std::size_t depth);
  void (*copy_rows)(T* to, std::size_t to_stride, const T* from, std::size_t from_stride, std::size_t rows,
                    std::size_t columns);
  void (*tiles[3][2])(std::size_t depth, const T* a, std::size_t across_a, std::size_t step_a, const T* b,
                      std::size_t step_b, T* c, std::size_t ldc, const tile_update<T>& update);
  void (*store_transposed)(T* c, std::size_t ldc, const T* sums, std::size_t ld, std::size_t rows, std::size_t columns,
                           const T* bias, bool relu);
  void (*dot_range)(const gemm_arguments<T>&, const gemm_range&);
  std::size_t tile_rows;
  std::size_t lanes;

  /// Returns the width of a panel of B: two vectors, or one if it holds the columns that are left. With wide panels
  /// alone, products with few columns (10 classes) would mostly multiply zeros.
  std::size_t panel_width(std::size_t left) const { return left > lanes ? 2 * lanes : lanes; }

  /// Returns the rows of a panel of A and of its tile if `left` rows are left: 2, 4 or tile_rows. Numbers of rows that
  /// are powers of two leave 2 or 4 rows behind tiles of 6, and batches of few samples have no more rows.
  std::size_t panel_rows(std::size_t left) const { return left > 4 ? tile_rows : left > 2 ? 4 : 2; }

  /// Computes the `rows` x `columns` elements of a tile that lie in C.
  void multiply_tile(std::size_t depth, const panel_view<T>& a, const panel_view<T>& b, T* c, std::size_t ldc,
                     const tile_update<T>& update, std::size_t rows, std::size_t columns) const {
    if (rows == panel_rows(rows) && columns == panel_width(columns))
      tile_for(rows, columns)(depth, a.data, a.across, a.step, b.data, b.step, c, ldc, update);
    else
      multiply_edge(depth, a, b, c, ldc, update, rows, columns);
  }

  /// Computes C [rows, columns] = update(A B) for packed rows of A and a packed panel of B.
  void multiply_panel(const T* packed_a, const T* panel, std::size_t depth, T* c, std::size_t ldc,
                      const tile_update<T>& update, std::size_t rows, std::size_t columns) const {
    const panel_view<T> b{panel, panel_width(columns)};
    for (std::size_t i = 0; i < rows; i += tile_rows) {
      const std::size_t height = smaller(tile_rows, rows - i);
      const panel_view<T> a{packed_a + i * depth, panel_rows(height)};
      multiply_tile(depth, a, b, c + i * ldc, ldc, update, height, columns);
    }
  }

  /// Computes the rows and columns of `range`, with `buffer` (gemm_buffer_bytes, 64-byte aligned) for packed blocks.
  void multiply_range(const gemm_arguments<T>& g, const gemm_range& range, void* buffer) const {
    const std::size_t tile_columns = 2 * lanes, block_rows = gemm_block_rows<T> / tile_rows * tile_rows;
    T* const packed_a = static_cast<T*>(buffer);
    T* const packed_b = packed_a + gemm_packed_rows<T> * (gemm_block_depth + gemm_panel_gap);
    const std::size_t stride_ai = g.transpose_a ? 1 : g.lda, stride_ap = g.transpose_a ? g.lda : 1;
    const std::size_t stride_bp = g.transpose_b ? 1 : g.ldb, stride_bj = g.transpose_b ? g.ldb : 1;
    const std::size_t all_rows = range.row_end - range.row_begin, all_columns = range.column_end - range.column_begin;
    // Blocks of equal depth: 784 is 2 x 392, not 512 + 272.
    const std::size_t depths = divided_up(g.k, gemm_block_depth);
    const bool far = g.m * g.n * sizeof(T) > std::size_t{2} << 20U;
    // Packing does not pay for small matrices, nor if few tiles read each element, nor for rows of A, which stay in the
    // cache from one p to the next, whereas each element of a column has its own cache line. Elements at distances of
    // 4 KiB would share a set of the first-level cache.
    const auto is_small = [&](std::size_t stride) {
      return stride * sizeof(T) < 4096 && stride * g.k * sizeof(T) <= std::size_t{64} << 10U;
    };
    const bool unpacked_a = !g.transpose_a || is_small(g.lda) || all_columns <= tile_columns;
    const bool unpacked_b = !g.transpose_b && (is_small(g.ldb) || all_rows <= 2 * tile_rows);
    // Packs columns of B just before their first use. If only one block of rows uses packed columns, the next columns
    // overwrite them, so that packed elements stay in the cache.
    const bool one_block = all_rows < block_rows + 2 * tile_rows;
    const std::size_t packed_together = g.transpose_b ? tile_columns : 4 * tile_columns;

    for (std::size_t j0 = range.column_begin; j0 < range.column_end; j0 += gemm_block_columns<T>) {
      const std::size_t columns = smaller(gemm_block_columns<T>, range.column_end - j0);
      for (std::size_t block = 0; block < depths; ++block) {
        const std::size_t p0 = part_begin(g.k, depths, block), depth = part_begin(g.k, depths, block + 1) - p0;
        const std::size_t distance = depth + gemm_panel_gap;  // times a panel's width
        const bool first = block == 0, last = block + 1 == depths;
        tile_update<T> update{g.alpha, first ? g.beta : T{1}, nullptr, last && g.epilogue == epilogue::relu, far};
        for (std::size_t rows, i0 = range.row_begin; i0 < range.row_end; i0 += rows) {
          const std::size_t left = range.row_end - i0;
          rows = left < block_rows + 2 * tile_rows ? left : block_rows;
          const T* const block_a = g.a + i0 * stride_ai + p0 * stride_ap;
          for (std::size_t height, i = 0; i < rows; i += height) {
            const std::size_t below = rows - i, whole = below / tile_rows * tile_rows;
            height = whole != 0 && !unpacked_a ? whole : smaller(tile_rows, below);
            const std::size_t full = panel_rows(height);
            if (!unpacked_a || height != full)
              pack(packed_a + i * distance, full, block_a + i * stride_ai, stride_ai, stride_ap, height, depth);
          }
          for (std::size_t j = 0; j < columns; j += tile_columns) {
            const std::size_t width = smaller(tile_columns, columns - j);
            const T* const source = g.b + (j0 + j) * stride_bj + p0 * stride_bp;
            panel_view<T> b{source, g.ldb};
            if (!unpacked_b || width != panel_width(width)) {
              const std::size_t place = unpacked_b ? 0 : j % packed_together;
              T* const target = packed_b + (one_block ? place : j) * distance;
              if (place == 0 && i0 == range.row_begin) {
                const std::size_t together = unpacked_b ? width : smaller(packed_together, columns - j);
                pack_columns(target, source, stride_bj, stride_bp, together, depth);
              }
              b = {target, panel_width(width)};
            }
            if (last && g.bias != nullptr) update.bias = g.bias + j0 + j;
            for (std::size_t i = 0; i < rows; i += tile_rows) {
              const std::size_t height = smaller(tile_rows, rows - i), full = panel_rows(height);
              panel_view<T> a{packed_a + i * distance, full};
              if (unpacked_a && height == full) a = {block_a + i * stride_ai, stride_ap, stride_ai};
              multiply_tile(depth, a, b, g.c + (i0 + i) * g.ldc + j0 + j, g.ldc, update, height, width);
            }
          }
        }
      }
    }
  }

  /// Returns whether multiply_transposed computes `g` faster than multiply_range: packing an element takes as long as
  /// lanes / 2 multiplications, storing a transposed one a little longer. The packed block stays in the second-level
  /// cache.
  bool prefers_transposed(const gemm_arguments<T>& g) const {
    if (g.transpose_a || !g.transpose_b || g.beta != T{0}) return false;
    const std::size_t padded = divided_up(g.m, lanes) * lanes;
    // The sums of a narrow tile with fewer than 8 rows wait for the latency of multiply-adds.
    const std::size_t waiting = padded % (2 * lanes) != 0 && tile_rows < 8 ? lanes / 2 : 0;
    if (padded > gemm_block_depth || padded * g.k * sizeof(T) > std::size_t{512} << 10U) return false;
    const std::size_t stored = g.m * g.n + g.m * g.n / 4;
    return (padded - g.m + waiting) * g.n * g.k + (g.m * g.k + stored) * lanes / 2 < g.n * g.k * lanes / 2;
  }

  /// Computes what multiply_range computes, with the same bits, as C^T = B^T A^T in blocks of tile_rows rows of B^T,
  /// which are read where they lie. Packs the rows of A, of which there are fewer. Requires prefers_transposed(g).
  void multiply_transposed(const gemm_arguments<T>& g, const gemm_range& range, void* buffer) const {
    const std::size_t tile_columns = 2 * lanes;
    T* const sums = static_cast<T*>(buffer);
    T* const edge = sums + gemm_block_rows<T> * gemm_block_depth / 2;
    T* const packed = sums + gemm_block_rows<T> * gemm_block_depth;
    const std::size_t rows = range.row_end - range.row_begin, ld = divided_up(rows, lanes) * lanes;
    const std::size_t depths = divided_up(g.k, gemm_block_depth);
    const std::size_t chunk = gemm_block_rows<T> / 2 / tile_rows * tile_rows;
    for (std::size_t j0 = range.column_begin; j0 < range.column_end; j0 += chunk) {
      const std::size_t columns = smaller(chunk, range.column_end - j0);
      for (std::size_t block = 0; block < depths; ++block) {
        const std::size_t p0 = part_begin(g.k, depths, block), depth = part_begin(g.k, depths, block + 1) - p0;
        const tile_update<T> update{g.alpha, block == 0 ? T{0} : T{1}, nullptr, false};
        for (std::size_t i = 0; i < rows; i += tile_columns) {
          const std::size_t count = smaller(tile_columns, rows - i);
          T* const panel = packed + p0 * ld + i * depth;
          if (j0 == range.column_begin)
            pack_columns(panel, g.a + (range.row_begin + i) * g.lda + p0, g.lda, 1, count, depth);
          const panel_view<T> samples{panel, panel_width(count)};
          for (std::size_t j = 0; j < columns; j += tile_rows) {
            const std::size_t height = smaller(tile_rows, columns - j), full = panel_rows(height);
            panel_view<T> weights{g.b + (j0 + j) * g.ldb + p0, 1, g.ldb};
            if (height != full) {
              if (i == 0) pack(edge, full, weights.data, g.ldb, 1, height, depth);
              weights = {edge, full};
            }
            tile_for(full, samples.step)(depth, weights.data, weights.across, weights.step, panel, samples.step,
                                         sums + j * ld + i, ld, update);
          }
        }
      }
      store_transposed(g.c + range.row_begin * g.ldc + j0, g.ldc, sums, ld, rows, columns,
                       g.bias == nullptr ? nullptr : g.bias + j0, g.epilogue == epilogue::relu);
    }
  }

 private:
  auto tile_for(std::size_t rows, std::size_t columns) const {
    return tiles[rows > 4 ? 2 : rows > 2 ? 1 : 0][columns > lanes ? 1 : 0];
  }

  void pack_columns(T* target, const T* source, std::size_t stride_j, std::size_t stride_p, std::size_t columns,
                    std::size_t depth) const {
    for (std::size_t j = 0; j < columns;) {
      // With stride_j 1, one call packs all whole panels.
      const std::size_t left = columns - j, whole = left / (2 * lanes) * (2 * lanes);
      const std::size_t count = stride_j == 1 && whole != 0 ? whole : smaller(2 * lanes, left);
      pack(target + j * (depth + gemm_panel_gap), panel_width(count), source + j * stride_j, stride_j, stride_p, count,
           depth);
      j += count;
    }
  }

  /// Computes a tile at an edge of C as a full tile in a local buffer, with the bias.
  [[gnu::noinline]] void multiply_edge(std::size_t depth, const panel_view<T>& a, const panel_view<T>& b, T* c,
                                       std::size_t ldc, const tile_update<T>& update, std::size_t rows,
                                       std::size_t columns) const {
    T edge[most_tile_elements<T>], bias[most_tile_elements<T> / 8];
    const std::size_t width = panel_width(columns);
    tile_update<T> edge_update = update;
    if (update.beta != T{0}) {
      std::memset(edge, 0, sizeof(edge));
      copy_rows(edge, width, c, ldc, rows, columns);
    }
    if (update.bias != nullptr) {
      std::memset(bias, 0, sizeof(bias));
      copy_rows(bias, width, update.bias, 0, 1, columns);
      edge_update.bias = bias;
    }
    tile_for(rows, columns)(depth, a.data, a.across, a.step, b.data, b.step, edge, width, edge_update);
    copy_rows(c, ldc, edge, width, rows, columns);
  }
};

}  // namespace devplace::detail
