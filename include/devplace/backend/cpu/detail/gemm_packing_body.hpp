// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by instruction_sets.hpp only: copies of operands for the matrix engine.

/// Copies rows of up to 2 * Piece elements, each as two pieces that may overlap, without a loop over single elements.
template <class T, std::size_t Piece>
[[gnu::noinline]] DEVPLACE_TARGET inline void copy_rows(T* to, std::size_t to_stride, const T* from,
                                                        std::size_t from_stride, std::size_t rows,
                                                        std::size_t columns) {
  if constexpr (Piece > 1) {
    if (columns < Piece) return copy_rows<T, Piece / 2>(to, to_stride, from, from_stride, rows, columns);
  }
  const std::size_t second = columns - Piece;
  for (; rows != 0; --rows, to += to_stride, from += from_stride) {
    std::memcpy(to, from, Piece * sizeof(T));
    std::memcpy(to + second, from + second, Piece * sizeof(T));
  }
}

/// Packs the rest of a panel of `width` after pack: rows [begin, count), and zeros for rows from `count` on.
template <class T>
[[gnu::noinline]] DEVPLACE_TARGET inline void pack_rest(T* __restrict target, std::size_t width,
                                                        const T* __restrict source, std::size_t stride_i,
                                                        std::size_t stride_p, std::size_t begin, std::size_t count,
                                                        std::size_t depth) {
  if (stride_i == 1 && begin == 0) {
    std::memset(target, 0, depth * width * sizeof(T));
    return copy_rows<T, vector_bytes / sizeof(T)>(target, width, source, stride_p, depth, count);
  }
  for (std::size_t p = 0; p < depth; ++p) {
    for (std::size_t i = begin; i < count; ++i) target[p * width + i] = source[i * stride_i + p * stride_p];
    for (std::size_t i = count; i < width; ++i) target[p * width + i] = T{0};
  }
}

/// Copies `count` rows (or columns) of a matrix into a panel [depth][width]. Element (i, p) of the matrix is
/// source[i * stride_i + p * stride_p], and one of the strides is 1. The rest of the panel is filled with zeros. If
/// stride_i is 1 and `width` that of two vectors, `count` may be that of several panels, which are packed row by row:
/// within a single panel, every row may lie on another page.
template <class T>
[[gnu::noinline]] DEVPLACE_TARGET inline void pack(T* __restrict target, std::size_t width, const T* __restrict source,
                                                   std::size_t stride_i, std::size_t stride_p, std::size_t count,
                                                   std::size_t depth) {
  constexpr std::size_t lanes = pack_bytes / sizeof(T);
  constexpr std::size_t tile_columns = 2 * vector_bytes / sizeof(T);
  if (stride_i == 1 && count >= width) {
    if (width != tile_columns)
      return copy_rows<T, vector_bytes / sizeof(T)>(target, width, source, stride_p, depth, width);
    for (std::size_t p = 0; p < depth; ++p) {
      for (std::size_t i = 0; i < count; i += tile_columns)
        std::memcpy(target + i * depth + p * tile_columns, source + p * stride_p + i, tile_columns * sizeof(T));
    }
    return;
  }
  const std::size_t whole_depth = depth / lanes * lanes;
  std::size_t i = 0;
  if (stride_p == 1) {
    for (; i + lanes <= count; i += lanes)
      for (std::size_t p = 0; p < whole_depth; p += lanes)
        transpose<T, lanes>(target + p * width + i, width, source + i * stride_i + p, stride_i);
    if constexpr (lanes == 8) {
      for (; i + 4 <= count; i += 4)
        for (std::size_t p = 0; p < whole_depth; p += 4)
          transpose<T, 4>(target + p * width + i, width, source + i * stride_i + p, stride_i);
    }
    if (i != 0 && whole_depth != depth)
      pack_rest(target + whole_depth * width, width, source + whole_depth, stride_i, 1, 0, i, depth - whole_depth);
  }
  if (i != width) pack_rest(target, width, source, stride_i, stride_p, i, count, depth);
}
