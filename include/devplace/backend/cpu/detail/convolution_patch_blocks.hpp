// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/backend/cpu/detail/convolution_table.hpp>

// Convolutions as products of the matrix engine: the loops over blocks of patches.
namespace devplace::detail {

template <class T>
void convolution_kernels<T>::convolve_range(const convolution_arguments<T, sum_type>& g, bool mirrored,
                                            std::size_t row_begin, std::size_t row_end, std::size_t begin,
                                            std::size_t end) const {
  const std::size_t tile_columns = 2 * gemm.lanes, tile_rows = gemm.tile_rows;
  constexpr std::size_t most_rows = convolution_block_rows<sum_type> * convolution_block_depth / patch_depth<T>;
  const std::size_t block_rows = most_rows / tile_rows * tile_rows;
  const std::size_t block_panels =
      convolution_block_columns<sum_type> * convolution_block_depth / patch_depth<T> / tile_columns;
  const convolution_shape& s = g.shape;
  sum_type* const packed_a = static_cast<sum_type*>(gemm_buffer::of_this_thread());
  sum_type* const packed_b = packed_a + convolution_block_rows<sum_type> * convolution_block_depth;
  const std::size_t pixels = s.pixels(), k = s.depth(), whole = k + (g.bias != nullptr ? 1 : 0);
  const std::size_t panels = divided_up(pixels, tile_columns);  // per sample
  const std::size_t depths = divided_up(whole, patch_depth<T>);

  for (std::size_t block_end, first = begin; first < end; first = block_end) {
    const std::size_t group = first / (panels * s.samples);
    block_end = smaller(smaller(first + block_panels, end), (group + 1) * panels * s.samples);
    const sum_type* const weight = g.weight + group * s.outputs * k;
    for (std::size_t block = 0; block < depths; ++block) {
      const std::size_t p0 = part_begin(whole, depths, block), depth = part_begin(whole, depths, block + 1) - p0;
      const bool last = block + 1 == depths, with_bias = last && g.bias != nullptr;
      const std::size_t depth_of_image = with_bias ? depth - 1 : depth;
      const tile_update<sum_type> update{1, static_cast<sum_type>(block == 0 ? 0 : 1), nullptr,
                                         last && g.epilogue == epilogue::relu};
      const auto pixels_of = [&](std::size_t index) { return index % panels * tile_columns; };
      const auto sample_of = [&](std::size_t index) { return index / panels % s.samples; };
      for (std::size_t index = first; index < block_end; ++index) {
        const std::size_t q0 = pixels_of(index), count = smaller(tile_columns, pixels - q0);
        const T* const image = g.x + (sample_of(index) * s.groups + group) * s.channels * s.plane();
        sum_type* const panel = packed_b + (index - first) * tile_columns * depth;
        const std::size_t width = gemm.panel_width(count);
        pack_patches(panel, width, s, image, q0, count, p0, depth_of_image);
        if (with_bias) fill(panel + depth_of_image * width, sum_type{1}, width);
      }
      for (std::size_t i0 = row_begin; i0 < row_end; i0 += block_rows) {
        const std::size_t rows = smaller(block_rows, row_end - i0);
        const sum_type* const bias = with_bias ? g.bias + group * s.outputs : nullptr;
        if (mirrored) {
          pack_mirrored_rows(packed_a, s, weight, i0, rows, p0, depth_of_image, bias);
        } else {
          pack_rows(packed_a, weight + i0 * k + p0, k, std::size_t{1}, rows, depth_of_image,
                    with_bias ? bias + i0 : nullptr);
        }
        for (std::size_t index = first; index < block_end; ++index) {
          const std::size_t q0 = pixels_of(index), count = smaller(tile_columns, pixels - q0);
          const std::size_t at = ((sample_of(index) * s.groups + group) * s.outputs + i0) * pixels + q0;
          const sum_type* const panel = packed_b + (index - first) * tile_columns * depth;
          if constexpr (std::is_same_v<T, sum_type>) {
            gemm.multiply_panel(packed_a, panel, depth, g.y + at, pixels, update, rows, count);
          } else {
            sum_type aside[most_rows * 2 * 64 / sizeof(sum_type)];
            sum_type* const sums = depths == 1 ? aside : g.floats.sums + at;
            const std::size_t ld = depths == 1 ? tile_columns : pixels;
            gemm.multiply_panel(packed_a, panel, depth, sums, ld, update, rows, count);
            for (std::size_t i = 0; last && i < rows; ++i) narrow(g.y + at + i * pixels, sums + i * ld, count);
          }
        }
      }
    }
  }
}

template <class T>
void convolution_kernels<T>::convolve_back_range(const convolution_input_gradient_arguments<T, sum_type>& g,
                                                 std::size_t group, std::size_t sample, std::size_t begin,
                                                 std::size_t end) const {
  const std::size_t tile_columns = 2 * gemm.lanes, tile_rows = gemm.tile_rows;
  const std::size_t block_rows = convolution_block_rows<sum_type> / tile_rows * tile_rows;
  constexpr std::size_t block_columns = convolution_block_columns<sum_type> / 2;
  static_assert(block_columns <= convolution_block_depth);  // fold_row's limit
  const convolution_shape& s = g.shape;
  sum_type* const packed_a = static_cast<sum_type*>(gemm_buffer::of_this_thread());
  sum_type* const packed_b = packed_a + convolution_block_rows<sum_type> * convolution_block_depth;
  sum_type* const products = packed_b + tile_columns * convolution_block_depth;  // [block_rows, block_columns]
  const std::size_t pixels = s.pixels(), k = s.depth();
  const std::size_t depths = divided_up(s.outputs, convolution_block_depth);
  const T* const dy = g.dy + (sample * s.groups + group) * s.outputs * pixels;
  const std::size_t at = (sample * s.groups + group) * s.channels * s.plane();
  sum_type* image;
  if constexpr (std::is_same_v<T, sum_type>)
    image = g.dx + at;
  else
    image = g.floats.sums + at;
  for (std::size_t c = begin; c < end; ++c)
    fill(image + c * s.plane(), g.bias == nullptr ? sum_type{0} : g.bias[group * s.channels + c], s.plane());

  for (std::size_t k0 = begin * s.taps(); k0 < end * s.taps(); k0 += block_rows) {
    const std::size_t rows = smaller(block_rows, end * s.taps() - k0);
    for (std::size_t q0 = 0; q0 < pixels; q0 += block_columns) {
      const std::size_t columns = smaller(block_columns, pixels - q0);
      for (std::size_t block = 0; block < depths; ++block) {
        const std::size_t p0 = part_begin(s.outputs, depths, block);
        const std::size_t depth = part_begin(s.outputs, depths, block + 1) - p0;
        const tile_update<sum_type> update{1, static_cast<sum_type>(block == 0 ? 0 : 1), nullptr, false};
        if (depths > 1 || q0 == 0)
          pack_rows(packed_a, g.weight + (group * s.outputs + p0) * k + k0, std::size_t{1}, k, rows, depth);
        for (std::size_t j = 0; j < columns; j += tile_columns) {
          const std::size_t width = smaller(tile_columns, columns - j);
          const T* const source = dy + p0 * pixels + q0 + j;
          pack(packed_b, gemm.panel_width(width), source, 1, pixels, width, depth);
          gemm.multiply_panel(packed_a, packed_b, depth, products + j, block_columns, update, rows,
                              gemm.panel_width(width));
        }
      }
      for (std::size_t i = 0; i < rows; ++i) fold_row(products + i * block_columns, s, image, k0 + i, q0, columns);
    }
  }
  if constexpr (!std::is_same_v<T, sum_type>)
    narrow(g.dx + at + begin * s.plane(), image + begin * s.plane(), (end - begin) * s.plane());
}

template <class T>
void convolution_kernels<T>::convolve_weight_range(const convolution_weight_gradient_arguments<T>& g,
                                                   const weight_sum<sum_type>& of, std::size_t begin,
                                                   std::size_t end) const {
  const std::size_t tile_columns = 2 * gemm.lanes, tile_rows = gemm.tile_rows;
  const std::size_t block_rows = convolution_block_rows<sum_type> / tile_rows * tile_rows;
  const convolution_shape& s = g.shape;
  sum_type* const packed_a = static_cast<sum_type*>(gemm_buffer::of_this_thread());
  sum_type* const packed_b = packed_a + convolution_block_rows<sum_type> * convolution_block_depth;
  sum_type* const unfolded = packed_b + convolution_weight_columns<sum_type> *
                                            convolution_block_depth;  // [tile_columns, convolution_block_depth]
  sum_type* const unfolded_dy =
      unfolded + tile_columns * convolution_block_depth;  // [tile_rows, convolution_block_depth]
  const std::size_t pixels = s.pixels(), k = s.depth();
  // A block of the sum is a part of one sample, or several whole samples.
  const std::size_t parts = divided_up(pixels, convolution_block_depth);
  const std::size_t together = parts > 1 ? 1 : convolution_block_depth / pixels;

  sum_type factor = of.beta;
  for (std::size_t n = of.first; n < of.last; n += together) {
    const std::size_t samples = smaller(together, of.last - n);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t q0 = part_begin(pixels, parts, part), count = part_begin(pixels, parts, part + 1) - q0;
      const std::size_t depth = samples * count;
      for (std::size_t j = begin; j < end; j += tile_columns) {
        const std::size_t width = smaller(tile_columns, end - j);
        for (std::size_t m = 0; m < samples; ++m) {
          const T* const image = g.x + ((n + m) * s.groups + of.group) * s.channels * s.plane();
          for (std::size_t l = 0; l < width; ++l)
            unfold_row(unfolded + l * depth + m * count, s, image, j + l, q0, count);
        }
        sum_type* const panel = packed_b + (j - begin) * depth;
        gemm.pack(panel, gemm.panel_width(width), unfolded, depth, 1, width, depth);
      }
      const tile_update<sum_type> update{1, factor, nullptr, false};
      for (std::size_t i0 = 0; i0 < s.outputs; i0 += block_rows) {
        const std::size_t rows = smaller(block_rows, s.outputs - i0);
        const T* const dy = g.dy + ((n * s.groups + of.group) * s.outputs + i0) * pixels + q0;
        if (samples == 1) {
          pack_rows(packed_a, dy, pixels, std::size_t{1}, rows, depth);
        } else {
          const std::size_t of_sample = s.groups * s.outputs * pixels;
          for (std::size_t i = 0; i < rows; i += tile_rows) {
            const std::size_t height = smaller(tile_rows, rows - i);
            for (std::size_t l = 0; l < height; ++l)
              for (std::size_t m = 0; m < samples; ++m)
                widen(unfolded_dy + l * depth + m * count, dy + m * of_sample + (i + l) * pixels, count);
            pack_rows(packed_a + i * depth, unfolded_dy, depth, std::size_t{1}, height, depth);
          }
        }
        for (std::size_t j = begin; j < end; j += tile_columns) {
          const std::size_t width = smaller(tile_columns, end - j);
          gemm.multiply_panel(packed_a, packed_b + (j - begin) * depth, depth, of.sum + i0 * k + j, k, update, rows,
                              width);
        }
      }
      factor = 1;
    }
  }
}

template <class T>
template <class From>
void convolution_kernels<T>::pack_rows(sum_type* packed, const From* source, std::size_t stride_i, std::size_t stride_p,
                                       std::size_t rows, std::size_t depth, const sum_type* bias) const {
  const std::size_t whole = depth + (bias != nullptr ? 1 : 0);
  const std::size_t tile_rows = gemm.tile_rows;
  for (std::size_t i = 0; i < rows; i += tile_rows) {
    const std::size_t height = smaller(tile_rows, rows - i), width = gemm.panel_rows(height);
    sum_type* const panel = packed + i * whole;
    if constexpr (std::is_same_v<From, T>)
      pack(panel, width, source + i * stride_i, stride_i, stride_p, height, depth);
    else
      gemm.pack(panel, width, source + i * stride_i, stride_i, stride_p, height, depth);
    if (bias == nullptr) continue;
    for (std::size_t l = 0; l < width; ++l) panel[depth * width + l] = l < height ? bias[i + l] : sum_type{0};
  }
}

template <class T>
void convolution_kernels<T>::pack_mirrored_rows(sum_type* packed, const convolution_shape& s, const sum_type* weight,
                                                std::size_t begin, std::size_t rows, std::size_t p0, std::size_t depth,
                                                const sum_type* bias) const {
  const std::size_t whole = depth + (bias != nullptr ? 1 : 0), taps = s.taps(), tile_rows = gemm.tile_rows;
  for (std::size_t i = 0; i < rows; i += tile_rows) {
    const std::size_t height = smaller(tile_rows, rows - i), width = gemm.panel_rows(height);
    sum_type* to = packed + i * whole;
    for (std::size_t p = p0; p < p0 + depth; ++p, to += width) {
      const sum_type* const from = weight + (p / taps * s.outputs + begin + i) * taps + (taps - 1 - p % taps);
      for (std::size_t l = 0; l < width; ++l) to[l] = l < height ? from[l * taps] : sum_type{0};
    }
    if (bias == nullptr) continue;
    for (std::size_t l = 0; l < width; ++l) to[l] = l < height ? bias[begin + i + l] : sum_type{0};
  }
}

}  // namespace devplace::detail
