// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by convolution_kernels.hpp only.
//
// Convolutions as products of the matrix engine (gemm_blocks.hpp). The operand that consists of patches is read
// from the image into the engine's packed panels, block by block ("implicit im2col"). The order of each sum depends on
// the extents only, not on the ranges that threads compute.

#include <devplace/backend/cpu/detail/convolution_patches_body.hpp>

#include <devplace/backend/cpu/detail/convolution_tiles_body.hpp>

#include <devplace/backend/cpu/detail/convolution_direct_body.hpp>

#include <devplace/backend/cpu/detail/convolution_phases_body.hpp>

#include <devplace/backend/cpu/detail/convolution_depthwise_body.hpp>

template <class T> inline constexpr std::size_t tile_columns_of = 2 * vector_bytes / sizeof(computed_t<T>);

/// The largest depth of a block of patches, including the bias element. 16-bit convolutions use one block if possible.
template <class T>
inline constexpr std::size_t patch_depth =
    std::is_same_v<T, computed_t<T>> ? convolution_block_depth : direct_depth + 1;

/// Packs `rows` rows of A, at most convolution_block_rows, into contiguous panels of tile_rows rows and depth `depth`.
/// Element (i, p) is source[i * stride_i + p * stride_p]. With a `bias`, the depth of panels is one larger, and bias[i]
/// is the last element of row i.
template <class T, class From>
DEVPLACE_TARGET inline void pack_rows(T* packed, const From* source, std::size_t stride_i, std::size_t stride_p,
                                      std::size_t rows, std::size_t depth, const T* bias = nullptr) {
  const std::size_t whole = depth + (bias != nullptr ? 1 : 0);
  for (std::size_t i = 0; i < rows; i += tile_rows) {
    const std::size_t height = smaller(tile_rows, rows - i), width = panel_width(height, tile_rows, few_rows);
    T* const panel = packed + i * whole;
    pack_numbers(panel, width, source + i * stride_i, stride_i, stride_p, height, depth);
    if (bias == nullptr) continue;
    for (std::size_t l = 0; l < width; ++l) panel[depth * width + l] = l < height ? bias[i + l] : T{0};
  }
}

/// Packs rows [begin, begin + rows) of the weights of a transposed convolution in the layout of pack_rows. `s` is the
/// shape of the transposed convolution, whose channels are the original convolution's outputs and whose taps are in
/// reverse order. Element (i, p) belongs to output p / taps of the original convolution.
template <class T>
DEVPLACE_TARGET inline void pack_mirrored_rows(T* packed, const convolution_shape& s, const T* weight,
                                               std::size_t begin, std::size_t rows, std::size_t p0, std::size_t depth,
                                               const T* bias) {
  const std::size_t whole = depth + (bias != nullptr ? 1 : 0), taps = s.taps();
  for (std::size_t i = 0; i < rows; i += tile_rows) {
    const std::size_t height = smaller(tile_rows, rows - i), width = panel_width(height, tile_rows, few_rows);
    T* to = packed + i * whole;
    for (std::size_t p = p0; p < p0 + depth; ++p, to += width) {
      const T* const from = weight + (p / taps * s.outputs + begin + i) * taps + (taps - 1 - p % taps);
      for (std::size_t l = 0; l < width; ++l) to[l] = l < height ? from[l * taps] : T{0};
    }
    if (bias == nullptr) continue;
    for (std::size_t l = 0; l < width; ++l) to[l] = l < height ? bias[begin + i + l] : T{0};
  }
}

/// Computes rows [row_begin, row_end) of each group's outputs for the panels [begin, end) of pixels. Panels are
/// numbered by group, then by sample, then by pixel. A bias is appended to each weight row, and the matching element of
/// each patch is 1. `Mirrored`: uses the weights of pack_mirrored_rows.
template <class T, bool Mirrored>
DEVPLACE_TARGET void convolve_range(const convolution_arguments<T, computed_t<T>>& g, std::size_t row_begin,
                                    std::size_t row_end, std::size_t begin, std::size_t end, void* buffer) {
  using sum_type = computed_t<T>;
  constexpr std::size_t lanes = vector_bytes / sizeof(sum_type), tile_columns = tile_columns_of<T>;
  constexpr std::size_t most_rows = convolution_block_rows<sum_type> * convolution_block_depth / patch_depth<T>;
  constexpr std::size_t block_rows = most_rows / tile_rows * tile_rows;
  constexpr std::size_t block_panels =
      convolution_block_columns<sum_type> * convolution_block_depth / patch_depth<T> / tile_columns;
  const convolution_shape& s = g.shape;
  sum_type* const packed_a = static_cast<sum_type*>(buffer);
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
        if (count > lanes) {
          pack_patches<sum_type, tile_columns>(panel, s, image, q0, count, p0, depth_of_image);
          if (with_bias) fill_run(panel + depth_of_image * tile_columns, sum_type{1}, tile_columns);
        } else {
          pack_patches<sum_type, lanes>(panel, s, image, q0, count, p0, depth_of_image);
          if (with_bias) fill_run(panel + depth_of_image * lanes, sum_type{1}, lanes);
        }
      }
      for (std::size_t i0 = row_begin; i0 < row_end; i0 += block_rows) {
        const std::size_t rows = smaller(block_rows, row_end - i0);
        const sum_type* const bias = with_bias ? g.bias + group * s.outputs : nullptr;
        if constexpr (Mirrored) {
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
            code::gemm<sum_type>().multiply_panel(packed_a, panel, depth, g.y + at, pixels, update, rows, count);
          } else {
            sum_type aside[block_rows * tile_columns];
            sum_type* const sums = depths == 1 ? aside : g.floats.sums + at;
            const std::size_t ld = depths == 1 ? tile_columns : pixels;
            code::gemm<sum_type>().multiply_panel(packed_a, panel, depth, sums, ld, update, rows, count);
            for (std::size_t i = 0; last && i < rows; ++i) copy_run(g.y + at + i * pixels, sums + i * ld, count);
          }
        }
      }
    }
  }
}

/// Computes the input's gradient for channels [begin, end) of a group in one sample, for any strides. The products W^T
/// dY of a block of pixels are computed in the buffer and added to the image.
template <class T>
DEVPLACE_TARGET void convolve_back_range(const convolution_input_gradient_arguments<T, computed_t<T>>& g,
                                         std::size_t group, std::size_t sample, std::size_t begin, std::size_t end,
                                         void* buffer) {
  using sum_type = computed_t<T>;
  constexpr std::size_t lanes = vector_bytes / sizeof(sum_type), tile_columns = tile_columns_of<T>;
  constexpr std::size_t block_rows = convolution_block_rows<sum_type> / tile_rows * tile_rows;
  constexpr std::size_t block_columns = convolution_block_columns<sum_type> / 2;
  const convolution_shape& s = g.shape;
  sum_type* const packed_a = static_cast<sum_type*>(buffer);
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
    fill_run(image + c * s.plane(), g.bias == nullptr ? sum_type{0} : g.bias[group * s.channels + c], s.plane());

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
          pack_numbers(packed_b, panel_width(width, tile_columns, lanes), source, 1, pixels, width, depth);
          code::gemm<sum_type>().multiply_panel(packed_a, packed_b, depth, products + j, block_columns, update, rows,
                                                panel_width(width, tile_columns, lanes));
        }
      }
      for (std::size_t i = 0; i < rows; ++i) fold_row(products + i * block_columns, s, image, k0 + i, q0, columns);
    }
  }
  if constexpr (!std::is_same_v<T, sum_type>)
    copy_run(g.dx + at + begin * s.plane(), image + begin * s.plane(), (end - begin) * s.plane());
}

/// Computes columns [begin, end), at most convolution_weight_columns, of a group's weight gradient [outputs, depth],
/// summed over samples [first, last). Sets these columns of `sum` to the gradient + beta sum.
template <class T>
DEVPLACE_TARGET void convolve_weight_range(const convolution_weight_gradient_arguments<T>& g, std::size_t group,
                                           std::size_t first, std::size_t last, std::size_t begin, std::size_t end,
                                           computed_t<T>* sum, computed_t<T> beta, void* buffer) {
  using sum_type = computed_t<T>;
  constexpr std::size_t lanes = vector_bytes / sizeof(sum_type), tile_columns = tile_columns_of<T>;
  constexpr std::size_t block_rows = convolution_block_rows<sum_type> / tile_rows * tile_rows;
  const convolution_shape& s = g.shape;
  sum_type* const packed_a = static_cast<sum_type*>(buffer);
  sum_type* const packed_b = packed_a + convolution_block_rows<sum_type> * convolution_block_depth;
  sum_type* const unfolded = packed_b + convolution_weight_columns<sum_type> *
                                            convolution_block_depth;  // [tile_columns, convolution_block_depth]
  sum_type* const unfolded_dy =
      unfolded + tile_columns * convolution_block_depth;  // [tile_rows, convolution_block_depth]
  const std::size_t pixels = s.pixels(), k = s.depth();
  // A block of the sum is a part of one sample, or several whole samples.
  const std::size_t parts = divided_up(pixels, convolution_block_depth);
  const std::size_t together = parts > 1 ? 1 : convolution_block_depth / pixels;

  sum_type factor = beta;
  for (std::size_t n = first; n < last; n += together) {
    const std::size_t samples = smaller(together, last - n);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t q0 = part_begin(pixels, parts, part), count = part_begin(pixels, parts, part + 1) - q0;
      const std::size_t depth = samples * count;
      for (std::size_t j = begin; j < end; j += tile_columns) {
        const std::size_t width = smaller(tile_columns, end - j);
        for (std::size_t m = 0; m < samples; ++m) {
          const T* const image = g.x + ((n + m) * s.groups + group) * s.channels * s.plane();
          for (std::size_t l = 0; l < width; ++l)
            unfold_row(unfolded + l * depth + m * count, s, image, j + l, q0, count);
        }
        sum_type* const panel = packed_b + (j - begin) * depth;
        pack_numbers(panel, panel_width(width, tile_columns, lanes), unfolded, depth, 1, width, depth);
      }
      const tile_update<sum_type> update{1, factor, nullptr, false};
      for (std::size_t i0 = 0; i0 < s.outputs; i0 += block_rows) {
        const std::size_t rows = smaller(block_rows, s.outputs - i0);
        const T* const dy = g.dy + ((n * s.groups + group) * s.outputs + i0) * pixels + q0;
        if (samples == 1) {
          pack_rows(packed_a, dy, pixels, std::size_t{1}, rows, depth);
        } else {
          const std::size_t of_sample = s.groups * s.outputs * pixels;
          for (std::size_t i = 0; i < rows; i += tile_rows) {
            const std::size_t height = smaller(tile_rows, rows - i);
            for (std::size_t l = 0; l < height; ++l)
              for (std::size_t m = 0; m < samples; ++m)
                copy_run(unfolded_dy + l * depth + m * count, dy + m * of_sample + (i + l) * pixels, count);
            pack_rows(packed_a + i * depth, unfolded_dy, depth, std::size_t{1}, height, depth);
          }
        }
        for (std::size_t j = begin; j < end; j += tile_columns) {
          const std::size_t width = smaller(tile_columns, end - j);
          code::gemm<sum_type>().multiply_panel(packed_a, packed_b + (j - begin) * depth, depth, sum + i0 * k + j, k,
                                                update, rows, width);
        }
      }
      factor = 1;
    }
  }
}

/// Returns the table of convolution_kernels_of for one instruction set.
template <class T> constexpr convolution_kernels<T> convolution_kernel_table() {
  return {convolve_range<T, false>,
          convolve_range<T, true>,
          convolve_back_range<T>,
          convolve_weight_range<T>,
          sum_run<T>,
          convolve_rows<T, false>,
          convolve_rows<T, true>,
          convolve_weight_rows<T>,
          convolve_depthwise<T>,
          convolve_back_depthwise<T>,
          convolve_weight_depthwise<T>,
          tile_rows,
          tile_columns_of<T>,
          direct_widths};
}
