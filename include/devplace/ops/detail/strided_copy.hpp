// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

namespace devplace::detail {

/// Writes the transpose of a [4, 4] block, whose rows are `from_stride` and `to_stride` elements apart.
template <class T>
[[gnu::always_inline]] inline void transpose_4x4(T* to, std::ptrdiff_t to_stride, const T* from,
                                                 std::ptrdiff_t from_stride) {
  if constexpr (sizeof(T) == 4) {
    typedef float in_memory __attribute__((vector_size(16), aligned(4), may_alias));
    typedef float vector __attribute__((vector_size(16)));
    const auto row = [&](std::ptrdiff_t k) -> vector {
      return *reinterpret_cast<const in_memory*>(from + k * from_stride);
    };
    const vector a = row(0), b = row(1), c = row(2), d = row(3);
    const vector low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                 high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const vector low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                 high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const auto store = [&](std::ptrdiff_t k, vector column) {
      *reinterpret_cast<in_memory*>(to + k * to_stride) = column;
    };
    store(0, __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5));
    store(1, __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7));
    store(2, __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5));
    store(3, __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7));
  } else {
    for (std::ptrdiff_t k = 0; k < 4; ++k)
      for (std::ptrdiff_t i = 0; i < 4; ++i) to[k * to_stride + i] = from[i * from_stride + k];
  }
}

/// Copies [rows, columns] elements from a source with adjacent rows to a destination with adjacent columns. Reads and
/// writes cache lines as a whole, by a tile, because lines whose distance is a power of two evict each other.
template <class T>
[[gnu::noinline]] void copy_transposed(T* to, std::ptrdiff_t row_stride, const T* from, std::ptrdiff_t column_stride,
                                       std::ptrdiff_t rows, std::ptrdiff_t columns) {
  constexpr std::ptrdiff_t side = sizeof(T) <= 4 ? 16 : 8;
  T tile[std::size_t{side} * side];
  for (std::ptrdiff_t row = 0; row < rows; row += side) {
    const std::ptrdiff_t height = std::min(side, rows - row);
    for (std::ptrdiff_t column = 0; column < columns; column += side) {
      const std::ptrdiff_t width = std::min(side, columns - column);
      const T* const source = from + row + column * column_stride;
      T* const target = to + row * row_stride + column;
      if (height == side && width == side) {
        for (std::ptrdiff_t k = 0; k < side; k += 4)
          for (std::ptrdiff_t i = 0; i < side; i += 4)
            transpose_4x4(tile + i * side + k, side, source + k * column_stride + i, column_stride);
        for (std::ptrdiff_t i = 0; i < side; ++i) std::copy_n(tile + i * side, side, target + i * row_stride);
      } else {
        for (std::ptrdiff_t i = 0; i < height; ++i)
          for (std::ptrdiff_t k = 0; k < width; ++k) target[i * row_stride + k] = source[k * column_stride + i];
      }
    }
  }
}

/// Copies [rows, columns] elements between arrays of any strides. Not inlined, because otherwise each expression would
/// contain these loops.
template <class T, class Stride>
[[gnu::noinline]] void copy_rows(T* to, std::ptrdiff_t row_stride, Stride stride, const T* from,
                                 const std::ptrdiff_t* strides, std::ptrdiff_t rows, std::ptrdiff_t columns) {
  if (stride == 1 && strides[0] == 1 && rows > 1)
    return copy_transposed(to, row_stride, from, strides[1], rows, columns);
  if (row_stride == 1 && strides[1] == 1) return copy_transposed(to, stride, from, strides[0], columns, rows);
  for (std::ptrdiff_t row = 0; row < rows; ++row)
    for (std::ptrdiff_t k = 0; k < columns; ++k)
      to[row * row_stride + k * stride] = from[row * strides[0] + k * strides[1]];
}

}  // namespace devplace::detail
