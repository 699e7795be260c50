// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/parallel_ranges.hpp>
#include <devplace/ops/detail/product_arguments.hpp>

// Matrix products of bf16 and half, summed in float. The scheme follows gemm_blocks.hpp, with two differences.
// Operands are packed into units of 4 bytes: one float or, for processors that multiply pairs, two numbers with
// consecutive p. A tile's sums are stored through a buffer, because C may have another type.
namespace devplace::detail {

/// How a tile's sums become elements of C. Pointers refer to the tile's first element.
template <class T, class Result> struct mixed_tile {
  Result* c;
  std::size_t ldc;
  std::size_t rows, columns;  ///< rows and columns of the tile inside C
  float alpha, beta;
  const T* bias;
  bool relu;
};

/// Block sizes, in units. If C has 16 bits and k needs several blocks, a buffer keeps `rows` x `columns` sums.
struct mixed_blocks {
  std::size_t rows, columns, depth;
};
inline constexpr mixed_blocks mixed_blocks_of_whole_k{64, 256, 512};
inline constexpr mixed_blocks mixed_blocks_of_parts{192, 256, 256};
static_assert(4 * (64 + 256) * 512 <= gemm_buffer_bytes);
static_assert(4 * ((192 + 256) * 256 + 192 * 256) <= gemm_buffer_bytes);

/// Computes the rows and columns of `range`, with `buffer` (gemm_buffer_bytes, 64-byte aligned) for packed blocks.
/// `Kernel` packs and multiplies for one instruction set:
/// - `rows`, `columns`: size of a tile; `few_rows`: height of a smaller tile for the last rows of C;
/// - `pairs`: numbers in a unit; `depth_step`: zeros pad packed units along k to a multiple of depth_step;
/// - `pack_rows<Rows>(to, from, stride_i, stride_p, count, depth)`, `pack_columns<Columns>(...)`: `count` rows of A or
///   columns of B, `depth` numbers along k;
/// - `sums<Rows>(depth, a, b, to)`: a tile [Rows][columns] of sums over `depth` units;
/// - `add(sums, kept, stride, rows)`: adds kept sums to whole rows of a tile's sums; `keep(...)` stores sums for add();
/// - `store(sums, tile)`;
/// - `session`: a thread's state during the product.
template <class Kernel, class T, class Result> struct mixed_product {
  using arguments = gemm_arguments<T, Result>;

  static void run(const arguments& g, const gemm_range& range, void* buffer) {
    const std::size_t units = divided_up(g.k, pairs);
    const bool whole = units <= mixed_blocks_of_whole_k.depth, keeps_sums = !whole && !std::is_same_v<Result, float>;
    mixed_blocks size = whole ? mixed_blocks_of_whole_k : mixed_blocks_of_parts;
    size.rows = size.rows / tile_rows * tile_rows;
    const mixed_product product{g, units, size, static_cast<float*>(buffer)};
    [[maybe_unused]] const typename Kernel::session session;
    for (std::size_t j0 = range.column_begin; j0 < range.column_end; j0 += size.columns) {
      const std::size_t columns = smaller(size.columns, range.column_end - j0);
      for (std::size_t end, begin = range.row_begin; begin < range.row_end; begin = end) {
        end = keeps_sums ? smaller(begin + size.rows, range.row_end) : range.row_end;
        for (std::size_t block = 0; block < product.depths_; ++block) {
          product.pack_columns(j0, columns, block);
          for (std::size_t i0 = begin; i0 < end; i0 += size.rows)
            product.multiply(i0, smaller(size.rows, end - i0), j0, columns, block);
        }
      }
    }
  }

 private:
  static constexpr std::size_t pairs = Kernel::pairs, tile_rows = Kernel::rows, few_rows = Kernel::few_rows,
                               tile_columns = Kernel::columns;
  static_assert(64 >= tile_rows && 256 % Kernel::depth_step == 0 && 256 % tile_columns == 0);

  mixed_product(const arguments& g, std::size_t units, const mixed_blocks& size, float* buffer)
      : g_(g), units_(units), size_(size), packed_a_(buffer) {}

  /// The range of a block along k, and the number of packed units.
  struct depth_range {
    std::size_t begin, count, units;
  };
  depth_range depth_of(std::size_t block) const {
    const std::size_t begin = part_begin(units_, depths_, block), end = part_begin(units_, depths_, block + 1);
    return {begin * pairs, smaller(end * pairs, g_.k) - begin * pairs, padded_to(end - begin, Kernel::depth_step)};
  }

  void pack_columns(std::size_t j0, std::size_t columns, std::size_t block) const {
    const depth_range depth = depth_of(block);
    const std::size_t stride_p = g_.transpose_b ? 1 : g_.ldb, stride_j = g_.transpose_b ? g_.ldb : 1;
    for (std::size_t j = 0; j < columns; j += tile_columns)
      Kernel::template pack_columns<tile_columns>(packed_b_ + j * depth.units,
                                                  g_.b + (j0 + j) * stride_j + depth.begin * stride_p, stride_j,
                                                  stride_p, smaller(tile_columns, columns - j), depth.count);
  }

  /// Packs the rows of A and multiplies them by the packed columns of B.
  void multiply(std::size_t i0, std::size_t rows, std::size_t j0, std::size_t columns, std::size_t block) const {
    const depth_range depth = depth_of(block);
    const std::size_t stride_i = g_.transpose_a ? 1 : g_.lda, stride_p = g_.transpose_a ? g_.lda : 1;
    for (std::size_t i = 0; i < rows; i += tile_rows) {
      const std::size_t height = smaller(tile_rows, rows - i);
      const T* const from = g_.a + (i0 + i) * stride_i + depth.begin * stride_p;
      float* const to = packed_a_ + i * depth.units;
      if (height > few_rows)
        Kernel::template pack_rows<tile_rows>(to, from, stride_i, stride_p, height, depth.count);
      else
        Kernel::template pack_rows<few_rows>(to, from, stride_i, stride_p, height, depth.count);
    }
    const bool first = block == 0, last = block + 1 == depths_;
    constexpr bool is_float = std::is_same_v<Result, float>;
    for (std::size_t j = 0; j < columns; j += tile_columns)
      for (std::size_t i = 0; i < rows; i += tile_rows) {
        alignas(64) float sums[tile_rows * tile_columns];
        const float *const a = packed_a_ + i * depth.units, *const b = packed_b_ + j * depth.units;
        mixed_tile<T, Result> tile{g_.c + (i0 + i) * g_.ldc + j0 + j,
                                   g_.ldc,
                                   smaller(tile_rows, rows - i),
                                   smaller(tile_columns, columns - j),
                                   g_.alpha,
                                   g_.beta,
                                   nullptr,
                                   false};
        if (tile.rows > few_rows)
          Kernel::template sums<tile_rows>(depth.units, a, b, sums);
        else
          Kernel::template sums<few_rows>(depth.units, a, b, sums);
        if constexpr (is_float) {
          if (!first) tile.beta = 1;
        } else if (depths_ > 1) {
          float* const kept = kept_ + i * size_.columns + j;
          if (!first) Kernel::add(sums, kept, size_.columns, tile.rows);
          if (!last) {
            Kernel::keep(sums, kept, size_.columns, tile.rows);
            continue;
          }
        }
        if (last && g_.bias != nullptr) tile.bias = g_.bias + j0 + j;
        tile.relu = last && g_.epilogue == epilogue::relu;
        Kernel::store(sums, tile);
      }
  }

  const arguments& g_;
  std::size_t units_;
  mixed_blocks size_;
  std::size_t depths_ = divided_up(units_, size_.depth);  // blocks along k
  float* packed_a_;
  float* packed_b_ = packed_a_ + size_.rows * size_.depth;
  float* kept_ = packed_b_ + size_.depth * size_.columns;
};

}  // namespace devplace::detail
