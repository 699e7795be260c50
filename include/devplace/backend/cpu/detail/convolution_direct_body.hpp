// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by convolution_kernels.hpp only.
//
// Convolutions whose vectors hold output channels: each element of an image is multiplied by vectors of weights, so
// patches are never stored. Images are only copied, with their padding (direct_convolution). The scheme follows
// Georganas et al., "Anatomy of high-performance deep learning convolutions on SIMD architectures" (2018), but keeps
// the layout of the caller's tensors.

/// Computes to[i] = from[i] + beta to[i], then applies ReLU if `relu`.
template <class T, std::size_t Bytes>
[[gnu::always_inline]] DEVPLACE_TARGET inline void update_run(T* __restrict to, const T* __restrict from, std::size_t n,
                                                              T beta, bool relu) {
  constexpr std::size_t lanes = Bytes / sizeof(T);
  if constexpr (Bytes < 16) {
    for (std::size_t i = 0; i < n; ++i) {
      T x = from[i];
      if (beta != T{0}) x += beta * to[i];
      to[i] = relu && x < T{0} ? T{0} : x;
    }
  } else {
    if (n >= lanes) {
      vector<T, Bytes> x = *reinterpret_cast<const loaded<T, Bytes>*>(from);
      if (beta != T{0}) x += beta * *reinterpret_cast<const loaded<T, Bytes>*>(to);
      const vector<T, Bytes> zero{};
      if (relu) x = x < zero ? zero : x;
      *reinterpret_cast<loaded<T, Bytes>*>(to) = x;
      if (n == lanes) return;
      to += lanes, from += lanes, n -= lanes;
    }
    update_run<T, Bytes / 2>(to, from, n, beta, relu);
  }
}

/// Computes c[o * ldc + i] = sums[i * width + o] + beta c[o * ldc + i] for i < count and o < outputs, then applies ReLU
/// if `relu`.
template <class T>
DEVPLACE_TARGET inline void store_turned(T* c, std::size_t ldc, const T* sums, std::size_t width, std::size_t count,
                                         std::size_t outputs, T beta, bool relu) {
  constexpr std::size_t block = pack_bytes / sizeof(T);
  if (beta == T{0} && !relu && count >= block && outputs % block == 0) {
    for (std::size_t o = 0; o < outputs; o += block) {
      for (std::size_t next = 0; next < count; next += block) {
        const std::size_t i = smaller(next, count - block);  // may overlap the previous block
        transpose<T, block>(c + o * ldc + i, ldc, sums + i * width + o, width);
      }
    }
    return;
  }
  T transposed[block * block];
  for (std::size_t o = 0; o < outputs; o += block) {
    const std::size_t height = smaller(block, outputs - o);
    for (std::size_t i = 0; i < count; i += block) {
      const std::size_t n = smaller(block, count - i);
      transpose<T, block>(transposed, block, sums + i * width + o, width);
      for (std::size_t l = 0; l < height; ++l)
        update_run<T, block * sizeof(T)>(c + (o + l) * ldc + i, transposed + l * block, n, beta, relu);
    }
  }
}

/// Rounds to 16 bits: c[o * ldc + i] = sums[i * width + o] for i < count and o < outputs.
DEVPLACE_TARGET inline void store_rounded(auto* c, std::size_t ldc, const float* sums, std::size_t width,
                                          std::size_t count, std::size_t outputs) {
  constexpr std::size_t block = pack_bytes / sizeof(float);
  float transposed[block * block];
  for (std::size_t o = 0; o < outputs; o += block) {
    const std::size_t height = smaller(block, outputs - o);
    for (std::size_t next = 0; next < count; next += block) {
      const bool whole = count >= block;
      const std::size_t i = whole ? smaller(next, count - block) : 0;  // may overlap the previous block
      transpose<float, block>(transposed, block, sums + i * width + o, width);
      for (std::size_t l = 0; l < height; ++l)
        copy_run(c + (o + l) * ldc + i, transposed + l * block, whole ? block : count);
    }
  }
}

/// Copies the rows of one sample's channels that output rows [y0, y0 + n) read, with padding.
template <class T, class From>
DEVPLACE_TARGET inline void copy_segment(T* to, const direct_convolution& d, const convolution_shape& s,
                                         const From* image, std::size_t channels, std::size_t y0, std::size_t n) {
  const window_axis& a = s.columns;
  const std::size_t rows = d.span(s, n), first = y0 * s.rows.stride;
  const auto [top, bottom] = inside_range(s.rows.in, s.rows.padding, first, rows);
  for (std::size_t c = 0; c < channels; ++c, image += s.plane(), to += d.plane) {
    fill_run(to, T{0}, top * d.row);
    for (std::size_t f = 0; f < d.phases; ++f) {
      const auto [begin, end] = inside_range(a.in, a.padding, f, d.phase, a.stride);
      T* row = to + top * d.row + f * d.phase;
      for (std::size_t r = top; r < bottom; ++r, row += d.row) {
        fill_run(row, T{0}, d.phase);
        if (begin < end)
          copy_strided(row + begin, image + (first + r - s.rows.padding) * a.in + begin * a.stride + f - a.padding,
                       end - begin, a.stride);
      }
    }
    // The last tile of the last row reads beyond the row.
    fill_run(to + bottom * d.row, T{0}, (rows - bottom) * d.row + d.pixel_tile_width);
  }
}
