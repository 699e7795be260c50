// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by instruction_sets.hpp only: copies of operands for the matrix engine.

/// Copies rows of up to 2 * Piece elements, each as two pieces that may overlap, without a loop over single elements.
template <class T, std::size_t Piece>
[[gnu::noinline]] DEVPLACE_TARGET inline void copy_rows(T* to, std::size_t to_stride, const T* from,
                                                        std::size_t from_stride, std::size_t rows,
                                                        std::size_t columns) {
  if constexpr (Piece > 1) {
    if (columns < Piece) return narrow::copy_rows<T, Piece / 2>(to, to_stride, from, from_stride, rows, columns);
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

/// Packs whole panels of elements that are adjacent across each panel, as pieces that may overlap.
template <class T, std::size_t Piece>
[[gnu::noinline]] DEVPLACE_TARGET inline void pack_contiguous(T* __restrict target, std::size_t width,
                                                              const T* __restrict source, std::size_t stride_p,
                                                              std::size_t count, std::size_t depth) {
  if constexpr (Piece > 2) {
    if (width < Piece) return narrow::pack_contiguous<T, Piece / 2>(target, width, source, stride_p, count, depth);
  }
  constexpr std::size_t ahead = 8;
  const std::size_t second = width - Piece;
  for (std::size_t p = 0; p < depth; ++p, target += width, source += stride_p) {
    for (std::size_t i = 0; i < count; i += width) {
      __builtin_prefetch(source + ahead * stride_p + i);
      std::memcpy(target + i * (depth + gemm_panel_gap), source + i, Piece * sizeof(T));
      std::memcpy(target + i * (depth + gemm_panel_gap) + second, source + i + second, Piece * sizeof(T));
    }
  }
}

/// Packs `count` contiguous rows in blocks of L x L, the last of which may overlap the block before. The rows advance
/// together by two blocks, so that each cache line of the source and of the panel is used up at once.
template <class T, std::size_t L>
[[gnu::noinline]] DEVPLACE_TARGET inline void pack_transposed(T* __restrict target, std::size_t width,
                                                              const T* __restrict source, std::size_t stride_i,
                                                              std::size_t count, std::size_t depth) {
  for (std::size_t begin = 0; begin < count; begin += L) {
    const std::size_t i = smaller(begin, count - L);
    for (std::size_t p = 0; p < depth; p += L)
      transpose<T, L>(target + p * width + i, width, source + i * stride_i + p, stride_i);
  }
}

/// Copies `count` rows (or columns) of a matrix into a panel [depth][width]. Element (i, p) of the matrix is
/// source[i * stride_i + p * stride_p], and one of the strides is 1. The rest of the panel is filled with zeros.
/// `count` may be that of several whole panels, gemm_panel_gap apart. If stride_i is 1, these are packed row by row:
/// within a single panel, every row may lie on another page.
template <class T>
[[gnu::noinline]] DEVPLACE_TARGET inline void pack(T* __restrict target, std::size_t width, const T* __restrict source,
                                                   std::size_t stride_i, std::size_t stride_p, std::size_t count,
                                                   std::size_t depth) {
  constexpr std::size_t lanes = pack_bytes / sizeof(T);
  if (stride_i == 1 && count >= width)
    return pack_contiguous<T, vector_bytes / sizeof(T)>(target, width, source, stride_p, count, depth);
  std::size_t packed = 0;
  if (stride_p == 1 && count >= 4) {
    const std::size_t whole_depth = depth / lanes * lanes;
    if (lanes <= 4 || count >= lanes)
      narrow::pack_transposed<T, lanes>(target, width, source, stride_i, count, whole_depth);
    else
      narrow::pack_transposed<T, 4>(target, width, source, stride_i, count, whole_depth);
    if (whole_depth != depth)
      pack_rest(target + whole_depth * width, width, source + whole_depth, stride_i, 1, 0, count, depth - whole_depth);
    packed = count;
  }
  if (packed != width) pack_rest(target, width, source, stride_i, stride_p, packed, count, depth);
}

/// Writes the transpose of `sums` [columns][ld] to C [rows][ldc], and adds the bias and applies relu.
template <class T>
[[gnu::noinline]] DEVPLACE_TARGET inline void store_transposed(T* __restrict c, std::size_t ldc,
                                                               const T* __restrict sums, std::size_t ld,
                                                               std::size_t rows, std::size_t columns,
                                                               const T* __restrict bias, bool relu) {
  constexpr std::size_t lanes = pack_bytes / sizeof(T);
  using vector = typename vector_of<T, pack_bytes>::type;
  using loaded = typename vector_of<T, pack_bytes>::unaligned;
  const vector zero{};
  const std::size_t whole = rows < lanes ? 0 : columns / lanes * lanes;
  for (std::size_t r0 = 0; r0 < rows; r0 += lanes) {
    const std::size_t r = rows < lanes ? 0 : smaller(r0, rows - lanes);
    for (std::size_t i = 0; i < whole; i += lanes) transpose<T, lanes>(c + r * ldc + i, ldc, sums + i * ld + r, ld);
    for (std::size_t k = r; k < smaller(r + lanes, rows); ++k) {
      T* const row = c + k * ldc;
      for (std::size_t i = whole; i < columns; ++i) {
        const T x = sums[i * ld + k] + (bias == nullptr ? T{0} : bias[i]);
        row[i] = relu && x < T{0} ? T{0} : x;
      }
      if (bias == nullptr && !relu) continue;
      for (std::size_t i = 0; i < whole; i += lanes) {
        vector x = *reinterpret_cast<const loaded*>(row + i);
        if (bias != nullptr) x += *reinterpret_cast<const loaded*>(bias + i);
        if (relu) x = x < zero ? zero : x;
        *reinterpret_cast<loaded*>(row + i) = x;
      }
    }
  }
}
