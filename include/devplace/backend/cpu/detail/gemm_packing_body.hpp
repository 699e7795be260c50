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

/// Packs the rest of a panel of `width` after pack_panel: rows [begin, count), and zeros for rows from `count` on. One
/// function serves panels of all widths.
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

/// Copies `Width` rows (or columns) of a matrix into a panel [depth][Width]. Element (i, p) of the matrix is
/// source[i * stride_i + p * stride_p], and one of the strides is 1. Only `count` rows exist; the rest of the panel is
/// filled with zeros.
template <class T, std::size_t Width>
DEVPLACE_TARGET inline void pack_panel(T* __restrict target, const T* __restrict source, std::size_t stride_i,
                                       std::size_t stride_p, std::size_t count, std::size_t depth) {
  constexpr std::size_t lanes = power_of_two_within(smaller(pack_bytes / sizeof(T), Width));
  if (stride_i == 1 && count == Width) {
    for (std::size_t p = 0; p < depth; ++p) std::memcpy(target + p * Width, source + p * stride_p, Width * sizeof(T));
    return;
  }
  const std::size_t whole = stride_p == 1 ? count / lanes * lanes : 0;
  const std::size_t whole_depth = whole == 0 ? 0 : depth / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes) {
    for (std::size_t p = 0; p < whole_depth; p += lanes) {
      transpose<T, lanes>(target + p * Width + i, Width, source + i * stride_i + p, stride_i);
    }
    for (std::size_t p = whole_depth; p < depth; ++p) {
      for (std::size_t l = i; l < i + lanes; ++l) target[p * Width + l] = source[l * stride_i + p];
    }
  }
  if (whole != Width) pack_rest(target, Width, source, stride_i, stride_p, whole, count, depth);
}

/// Packs `columns` columns of B into contiguous panels.
template <class T>
DEVPLACE_TARGET inline void pack_columns(T* target, const T* source, std::size_t stride_j, std::size_t stride_p,
                                         std::size_t columns, std::size_t depth) {
  constexpr std::size_t lanes = vector_bytes / sizeof(T);
  constexpr std::size_t tile_columns = 2 * lanes;
  std::size_t j = 0;
  if (stride_j == 1) {
    // Packs row by row across all panels: within a single panel, every row may lie on another page.
    const std::size_t whole = columns / tile_columns;
    for (std::size_t p = 0; p < depth; ++p) {
      for (std::size_t panel = 0; panel < whole; ++panel) {
        std::memcpy(target + (panel * depth + p) * tile_columns, source + p * stride_p + panel * tile_columns,
                    tile_columns * sizeof(T));
      }
    }
    j = whole * tile_columns;
  }
  for (; j < columns; j += tile_columns) {
    const std::size_t width = smaller(tile_columns, columns - j);
    if (width > lanes) {
      pack_panel<T, tile_columns>(target + j * depth, source + j * stride_j, stride_j, stride_p, width, depth);
    } else {
      pack_panel<T, lanes>(target + j * depth, source + j * stride_j, stride_j, stride_p, width, depth);
    }
  }
}
