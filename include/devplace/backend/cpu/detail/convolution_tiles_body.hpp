// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by convolution_kernels.hpp only.
//
// The register tiles of direct convolutions (convolution_direct_body.hpp).

/// The widths in pixels of register tiles with two vectors, in descending order.
inline constexpr unsigned char direct_widths_by_vector[][6] = {{4}, {6, 5, 4}, {14, 10, 8, 7, 4}};
inline constexpr const auto& direct_widths = direct_widths_by_vector[vector_bytes / 32];

/// Computes sums[i] = bias + sum over p of weights[p] image[offsets[p] + i], then applies ReLU if `relu`.
template <class T, std::size_t Width, std::size_t Vectors>
[[gnu::noinline]] DEVPLACE_TARGET inline void pixel_tile(T* __restrict sums, const T* __restrict image,
                                                         const std::size_t* __restrict offsets, std::size_t depth,
                                                         const T* __restrict weights, const T* __restrict bias,
                                                         bool relu) {
  vector<T> sum[Width][Vectors];
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Width; ++i) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) sum[i][j] = *reinterpret_cast<const loaded<T>*>(bias + j * lanes<T>);
  }
  for (std::size_t p = 0; p < depth; ++p, weights += Vectors * lanes<T>) {
    const T* const from = image + offsets[p];
    vector<T> weight[Vectors];
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) weight[j] = *reinterpret_cast<const loaded<T>*>(weights + j * lanes<T>);
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Width; ++i) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Vectors; ++j) sum[i][j] += from[i] * weight[j];
    }
  }
  const vector<T> zero{};
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Width; ++i) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) {
      if (relu) sum[i][j] = sum[i][j] < zero ? zero : sum[i][j];
      *reinterpret_cast<loaded<T>*>(sums + (i * Vectors + j) * lanes<T>) = sum[i][j];
    }
  }
}

/// Computes sums[i] += sum over pixels q of dy[q] image[offsets[i] + q]; rows of the image are `stride` elements apart.
template <class T, std::size_t Width, std::size_t Vectors>
[[gnu::noinline]] DEVPLACE_TARGET inline void patch_tile(T* __restrict sums, const T* __restrict image,
                                                         const std::size_t* __restrict offsets, std::size_t rows,
                                                         std::size_t columns, std::size_t stride,
                                                         const T* __restrict dy) {
  vector<T> sum[Width][Vectors];
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Width; ++i) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j)
      sum[i][j] = *reinterpret_cast<const loaded<T>*>(sums + (i * Vectors + j) * lanes<T>);
  }
  for (std::size_t y = 0; y < rows; ++y, image += stride) {
    for (std::size_t x = 0; x < columns; ++x, dy += Vectors * lanes<T>) {
      vector<T> gradient[Vectors];
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < Vectors; ++j) gradient[j] = *reinterpret_cast<const loaded<T>*>(dy + j * lanes<T>);
      DEVPLACE_UNROLL
      for (std::size_t i = 0; i < Width; ++i) {
        DEVPLACE_UNROLL
        for (std::size_t j = 0; j < Vectors; ++j) sum[i][j] += image[offsets[i] + x] * gradient[j];
      }
    }
  }
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Width; ++i) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j)
      *reinterpret_cast<loaded<T>*>(sums + (i * Vectors + j) * lanes<T>) = sum[i][j];
  }
}

template <class T, std::size_t Width>
inline constexpr direct_tiles<T> tiles_of_width{{pixel_tile<T, Width, 1>, pixel_tile<T, Width, 2>},
                                                {patch_tile<T, Width, 1>, patch_tile<T, Width, 2>}};

template <class T, std::size_t Index = 0> const direct_tiles<T>& direct_tiles_of(std::size_t width) {
  constexpr std::size_t here = direct_widths[Index];
  if constexpr (direct_widths[Index + 1] != 0) {
    if (width != here) return direct_tiles_of<T, Index + 1>(width);
  }
  return tiles_of_width<T, here>;
}
