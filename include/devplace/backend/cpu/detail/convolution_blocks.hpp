// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <devplace/backend/cpu/detail/depthwise_convolution.hpp>
#include <devplace/backend/cpu/detail/direct_convolution.hpp>
#include <devplace/backend/cpu/detail/gemm_blocks.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>

// Convolutions as products of the matrix engine, and direct and depthwise convolutions. In products, the operand that
// consists of patches is read from the image into the engine's packed panels, block by block ("implicit im2col"). The
// order of each sum depends on the extents only, not on the ranges that threads compute.
namespace devplace::detail {

/// The largest number of columns of a weight's gradient that are computed at a time.
template <class T> inline constexpr std::size_t convolution_weight_columns = convolution_block_columns<T> / 2;

/// The largest depth of a block of patches, including the bias element. 16-bit convolutions use one block if possible.
template <class T>
inline constexpr std::size_t patch_depth =
    std::is_same_v<T, computed_t<T>> ? convolution_block_depth : direct_depth + 1;

/// Largest number of pixels whose sums stay in a buffer, [pixel][vectors]. direct_sums is the size of the buffer, which
/// has room for one more tile.
inline constexpr std::size_t direct_pixels = 64;
template <class T> inline constexpr std::size_t direct_sums = (direct_pixels + 16) * 2 * 64 / sizeof(T);

/// The tile functions of one width, with one vector and with two.
template <class T> struct direct_tiles {
  void (*pixels[2])(T* sums, const T* image, const std::size_t* offsets, std::size_t depth, const T* weights,
                    const T* bias, bool relu);
  void (*patches[2])(T* sums, const T* image, const std::size_t* offsets, std::size_t rows, std::size_t columns,
                     std::size_t stride, const T* dy);
};

/// The numbers of taps for which tap_products is compiled.
inline constexpr unsigned char tap_widths[] = {9, 7, 5, 3, 0};

/// The functions of the bodies of convolutions (convolution_*_body.hpp) for one instruction set, and the loops over
/// blocks of images and panels that call them. The loops are compiled once for all instruction sets.
template <class T> struct convolution_kernels {
  using sum_type = computed_t<T>;  ///< type of sums, and of the weights and biases read
  using arguments = convolution_arguments<T, sum_type>;
  using tap_products_function = void (*)(double* sums, const sum_type* image, const std::size_t* offsets,
                                         const sum_type* gradient, std::size_t n);

  gemm_kernels<sum_type> gemm;
  /// See convolution_patches_body.hpp. `widen` converts to the type of sums, `narrow` from it.
  ///@{
  void (*pack)(sum_type* target, std::size_t width, const T* source, std::size_t stride_i, std::size_t stride_p,
               std::size_t count, std::size_t depth);
  void (*widen)(sum_type* to, const T* from, std::size_t n);
  void (*narrow)(T* to, const sum_type* from, std::size_t n);
  void (*fill)(sum_type* to, sum_type value, std::size_t n);
  void (*pack_patches)(sum_type* target, std::size_t width, const convolution_shape& s, const T* image, std::size_t q0,
                       std::size_t count, std::size_t p0, std::size_t depth);
  void (*unfold_row)(sum_type* target, const convolution_shape& s, const T* image, std::size_t p, std::size_t q0,
                     std::size_t count);
  void (*fold_row)(const sum_type* source, const convolution_shape& s, sum_type* image, std::size_t p, std::size_t q0,
                   std::size_t count);
  sum_type (*sum_run)(const T* x, std::size_t n);
  ///@}
  /// See convolution_direct_body.hpp and convolution_tiles_body.hpp. `store_rounded` is null unless T has 16 bits.
  ///@{
  void (*copy_segment)(sum_type* to, const direct_convolution& d, const convolution_shape& s, const T* image,
                       std::size_t channels, std::size_t y0, std::size_t n);
  void (*store_turned)(sum_type* c, std::size_t ldc, const sum_type* sums, std::size_t width, std::size_t count,
                       std::size_t outputs, sum_type beta, bool relu);
  void (*store_rounded)(T* c, std::size_t ldc, const float* sums, std::size_t width, std::size_t count,
                        std::size_t outputs);
  const direct_tiles<sum_type>& (*tiles_of)(std::size_t width);
  const unsigned char* direct_widths;
  ///@}
  /// See convolution_phases_body.hpp and convolution_depthwise_body.hpp.
  ///@{
  void (*copy_phases)(sum_type* to, const depthwise_convolution& d, const convolution_shape& s, const T* image,
                      std::size_t y0, std::size_t n);
  void (*copy_gradient)(sum_type* to, const depthwise_convolution& d, const convolution_shape& s, const T* dy,
                        std::size_t y0, std::size_t n, std::size_t above);
  void (*join_phases)(sum_type* to, const depthwise_convolution& d, const window_axis& a, const sum_type* sums,
                      sum_type otherwise);
  void (*copy_rows)(T* to, std::size_t to_pitch, const sum_type* from, std::size_t from_pitch, std::size_t width,
                    std::size_t rows);
  void (*tap_sums)(sum_type* sums, const sum_type* image, const std::size_t* offsets, const sum_type* weights,
                   std::size_t depth, sum_type bias, bool relu, std::size_t n);
  tap_products_function (*products_of)(std::size_t taps);
  ///@}

  direct_convolution direct_of(const convolution_shape& s) const {
    return direct_convolution_of(s, gemm.lanes, sizeof(sum_type), direct_widths);
  }
  depthwise_convolution depthwise_of(const convolution_shape& s) const {
    return depthwise_convolution_of(s, gemm.lanes, sizeof(sum_type));
  }

  /// Computes rows [row_begin, row_end) of each group's outputs for the panels [begin, end) of pixels. Panels are
  /// numbered by group, then by sample, then by pixel. A bias is appended to each weight row, and the matching element
  /// of each patch is 1. `Mirrored`: uses the weights of pack_mirrored_rows.
  template <bool Mirrored>
  void convolve_range(const convolution_arguments<T, sum_type>& g, std::size_t row_begin, std::size_t row_end,
                      std::size_t begin, std::size_t end, void* buffer) const {
    const std::size_t lanes = gemm.lanes, tile_columns = 2 * lanes, tile_rows = gemm.tile_rows;
    constexpr std::size_t most_rows = convolution_block_rows<sum_type> * convolution_block_depth / patch_depth<T>;
    const std::size_t block_rows = most_rows / tile_rows * tile_rows;
    const std::size_t block_panels =
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
          const std::size_t width = panel_width(count, tile_columns, lanes);
          pack_patches(panel, width, s, image, q0, count, p0, depth_of_image);
          if (with_bias) fill(panel + depth_of_image * width, sum_type{1}, width);
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

  /// Computes the input's gradient for channels [begin, end) of a group in one sample, for any strides. The products
  /// W^T dY of a block of pixels are computed in the buffer and added to the image.
  void convolve_back_range(const convolution_input_gradient_arguments<T, sum_type>& g, std::size_t group,
                           std::size_t sample, std::size_t begin, std::size_t end, void* buffer) const {
    const std::size_t lanes = gemm.lanes, tile_columns = 2 * lanes, tile_rows = gemm.tile_rows;
    const std::size_t block_rows = convolution_block_rows<sum_type> / tile_rows * tile_rows;
    const std::size_t block_columns = convolution_block_columns<sum_type> / 2;
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
            pack(packed_b, panel_width(width, tile_columns, lanes), source, 1, pixels, width, depth);
            gemm.multiply_panel(packed_a, packed_b, depth, products + j, block_columns, update, rows,
                                panel_width(width, tile_columns, lanes));
          }
        }
        for (std::size_t i = 0; i < rows; ++i) fold_row(products + i * block_columns, s, image, k0 + i, q0, columns);
      }
    }
    if constexpr (!std::is_same_v<T, sum_type>)
      narrow(g.dx + at + begin * s.plane(), image + begin * s.plane(), (end - begin) * s.plane());
  }

  /// Computes columns [begin, end), at most convolution_weight_columns, of a group's weight gradient [outputs, depth],
  /// summed over samples [first, last). Sets these columns of `sum` to the gradient + beta sum.
  void convolve_weight_range(const convolution_weight_gradient_arguments<T>& g, std::size_t group, std::size_t first,
                             std::size_t last, std::size_t begin, std::size_t end, sum_type* sum, sum_type beta,
                             void* buffer) const {
    const std::size_t lanes = gemm.lanes, tile_columns = 2 * lanes, tile_rows = gemm.tile_rows;
    const std::size_t block_rows = convolution_block_rows<sum_type> / tile_rows * tile_rows;
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
          gemm.pack(panel, panel_width(width, tile_columns, lanes), unfolded, depth, 1, width, depth);
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
                  widen(unfolded_dy + l * depth + m * count, dy + m * of_sample + (i + l) * pixels, count);
              pack_rows(packed_a + i * depth, unfolded_dy, depth, std::size_t{1}, height, depth);
            }
          }
          for (std::size_t j = begin; j < end; j += tile_columns) {
            const std::size_t width = smaller(tile_columns, end - j);
            gemm.multiply_panel(packed_a, packed_b + (j - begin) * depth, depth, sum + i0 * k + j, k, update, rows,
                                width);
          }
        }
        factor = 1;
      }
    }
  }

  /// Computes rows [begin, end) of outputs, numbered by group, then by sample, then by row. `Mirrored`: g is a
  /// transposed convolution, whose channels are the original convolution's outputs and whose taps are in reverse order.
  template <bool Mirrored>
  void convolve_rows(const convolution_arguments<T, sum_type>& g, const direct_convolution& d, std::size_t begin,
                     std::size_t end, void* buffer) const {
    const std::size_t lanes = gemm.lanes;
    const convolution_shape& s = g.shape;
    const direct_tiles<sum_type>& tiles = tiles_of(d.pixel_tile_width);
    sum_type* const weights = static_cast<sum_type*>(buffer);
    sum_type* const bias = weights + direct_depth * 2 * lanes;
    sum_type* const images = bias + 2 * lanes;
    sum_type sums[direct_sums<sum_type>] = {};
    // Several rows of outputs, or a part of one row, are stored at a time.
    const std::size_t together = s.columns.out < direct_pixels ? direct_pixels / s.columns.out : 1;
    const std::size_t width = together > 1 ? s.columns.out : direct_pixels / d.pixel_tile_width * d.pixel_tile_width;
    std::size_t offsets[direct_depth];
    for (std::size_t c = 0; c < d.channels; ++c)
      for (std::size_t tap = 0; tap < s.taps(); ++tap)
        offsets[c * s.taps() + tap] = c * d.plane + d.at_tap(s, Mirrored ? s.taps() - 1 - tap : tap);

    for (std::size_t block_end, first = begin; first < end; first = block_end) {
      const std::size_t group = first / (s.rows.out * s.samples), group_end = (group + 1) * s.rows.out * s.samples;
      const auto segment_end = [&](std::size_t at) {
        const std::size_t rest = s.rows.out - at % s.rows.out;
        return smaller(at + smaller(rest, d.rows), end);
      };
      block_end = first;
      for (std::size_t i = 0; i < d.segments && block_end < smaller(end, group_end); ++i)
        block_end = segment_end(block_end);
      for (std::size_t c0 = 0; c0 < s.channels; c0 += d.channels) {
        const std::size_t channels = smaller(d.channels, s.channels - c0), depth = channels * s.taps();
        sum_type* image = images;
        for (std::size_t at = first; at < block_end; at = segment_end(at), image += d.channels * d.plane) {
          const std::size_t sample = at / s.rows.out % s.samples;
          copy_segment(image, d, s, g.x + ((sample * s.groups + group) * s.channels + c0) * s.plane(), channels,
                       at % s.rows.out, segment_end(at) - at);
        }
        const bool is_first = c0 == 0, is_last = c0 + channels == s.channels;
        const bool relu = is_first && is_last && g.epilogue == epilogue::relu;
        const sum_type* const weight = g.weight + group * s.outputs * s.depth();
        for (std::size_t o0 = 0; o0 < s.outputs; o0 += 2 * lanes) {
          const std::size_t count = smaller(2 * lanes, s.outputs - o0), vectors = count > lanes ? 2 : 1;
          const std::size_t across = vectors * lanes, taps = s.taps();
          if constexpr (Mirrored) {
            for (std::size_t c = 0; c < channels; ++c)
              gemm.pack(weights + c * taps * across, across, weight + ((c0 + c) * s.outputs + o0) * taps, taps, 1,
                        count, taps);
          } else {
            gemm.pack(weights, across, weight + o0 * s.depth() + c0 * taps, s.depth(), 1, count, depth);
          }
          fill(bias, sum_type{0}, 2 * lanes);
          if (g.bias != nullptr && is_first) std::copy_n(g.bias + group * s.outputs + o0, count, bias);
          image = images;
          for (std::size_t at = first; at < block_end; at = segment_end(at), image += d.channels * d.plane) {
            const std::size_t sample = at / s.rows.out % s.samples, rows = segment_end(at) - at;
            const std::size_t y =
                ((sample * s.groups + group) * s.outputs + o0) * s.pixels() + at % s.rows.out * s.columns.out;
            for (std::size_t r0 = 0; r0 < rows; r0 += together) {
              const std::size_t r1 = smaller(r0 + together, rows);
              for (std::size_t x0 = 0; x0 < s.columns.out; x0 += width) {
                const std::size_t x1 = smaller(x0 + width, s.columns.out);
                sum_type* to = sums;
                for (std::size_t r = r0; r < r1; ++r, to += (x1 - x0) * vectors * lanes)
                  for (std::size_t x = x0; x < x1; x += d.pixel_tile_width)
                    tiles.pixels[vectors - 1](to + (x - x0) * vectors * lanes, image + r * s.rows.stride * d.row + x,
                                              offsets, depth, weights, bias, relu);
                store_outputs(g, y + r0 * s.columns.out + x0, sums, vectors * lanes, (r1 - r0) * (x1 - x0), count,
                              is_first, is_last);
              }
            }
          }
        }
      }
    }
  }

  /// Computes the weight's gradient of a group for `channels` channels from c0 on, summed over samples [first, last).
  /// Sets these channels of sum [outputs, depth of the group] to the gradient + beta sum.
  void convolve_weight_rows(const convolution_weight_gradient_arguments<T>& g, const direct_convolution& d,
                            std::size_t group, std::size_t first, std::size_t last, std::size_t c0,
                            std::size_t channels, sum_type* sum, sum_type beta, void* buffer) const {
    const std::size_t lanes = gemm.lanes;
    const convolution_shape& s = g.shape;
    const direct_tiles<sum_type>& tiles = tiles_of(d.patch_tile_width);
    sum_type* const images = static_cast<sum_type*>(buffer);
    sum_type* const gradients = images + d.gradient_segments * d.channels * d.plane;
    sum_type sums[16 * 2 * 64 / sizeof(sum_type)] = {};
    std::size_t offsets[direct_depth + 16] = {};
    const std::size_t depth = channels * s.taps(), segment = d.rows * s.columns.out * 2 * lanes;
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t tap = 0; tap < s.taps(); ++tap) offsets[c * s.taps() + tap] = c * d.plane + d.at_tap(s, tap);

    const auto segment_end = [&](std::size_t at) {
      const std::size_t rest = s.rows.out - at % s.rows.out;
      return at + smaller(rest, d.rows);
    };
    const std::size_t end = last * s.rows.out;
    for (std::size_t block_end, begin = first * s.rows.out; begin < end; begin = block_end, beta = 1) {
      sum_type* image = images;
      block_end = begin;
      for (std::size_t i = 0; i < d.gradient_segments && block_end < end; ++i, image += d.channels * d.plane) {
        const std::size_t at = block_end, sample = at / s.rows.out;
        block_end = segment_end(at);
        copy_segment(image, d, s, g.x + ((sample * s.groups + group) * s.channels + c0) * s.plane(), channels,
                     at % s.rows.out, block_end - at);
      }
      for (std::size_t o0 = 0; o0 < s.outputs; o0 += 2 * lanes) {
        const std::size_t count = smaller(2 * lanes, s.outputs - o0), vectors = count > lanes ? 2 : 1;
        sum_type* gradient = gradients;
        for (std::size_t at = begin; at < block_end; at = segment_end(at), gradient += segment) {
          const T* const dy = g.dy + ((at / s.rows.out * s.groups + group) * s.outputs + o0) * s.pixels() +
                              at % s.rows.out * s.columns.out;
          const std::size_t pixels = (segment_end(at) - at) * s.columns.out;
          pack(gradient, vectors * lanes, dy, s.pixels(), 1, count, pixels);
        }
        for (std::size_t p = 0; p < depth; p += d.patch_tile_width) {
          fill(sums, sum_type{0}, 16 * vectors * lanes);
          image = images;
          gradient = gradients;
          for (std::size_t at = begin; at < block_end; at = segment_end(at)) {
            tiles.patches[vectors - 1](sums, image, offsets + p, segment_end(at) - at, s.columns.out,
                                       s.rows.stride * d.row, gradient);
            image += d.channels * d.plane;
            gradient += segment;
          }
          store_turned(sum + o0 * s.depth() + c0 * s.taps() + p, s.depth(), sums, vectors * lanes,
                       smaller(d.patch_tile_width, depth - p), count, beta, false);
        }
      }
    }
  }

  /// Computes segments [begin, end) of outputs, numbered by sample, then by group, then by row.
  void convolve_depthwise(const convolution_arguments<T, sum_type>& g, const depthwise_convolution& d,
                          std::size_t begin, std::size_t end, void* buffer) const {
    const convolution_shape& s = g.shape;
    sum_type* const image = static_cast<sum_type*>(buffer);
    sum_type* const sums = image + s.channels * d.phases() * d.plane;
    const std::size_t segments = divided_up(s.rows.out, d.rows), depth = s.depth();
    std::size_t offsets[depthwise_depth];
    for (std::size_t p = 0; p < depth; ++p) {
      const std::size_t tap = p % s.taps();
      offsets[p] = (p / s.taps() * d.phases() + d.phase_of(s, tap)) * d.plane + d.shift_of(s, tap);
    }
    for (std::size_t task = begin; task < end; ++task) {
      const std::size_t index = task / segments, group = index % s.groups;  // index: sample * s.groups + group
      const std::size_t y0 = task % segments * d.rows, rows = smaller(d.rows, s.rows.out - y0);
      for (std::size_t c = 0; c < s.channels; ++c)
        copy_phases(image + c * d.phases() * d.plane, d, s, g.x + (index * s.channels + c) * s.plane(), y0, rows);
      for (std::size_t o = 0; o < s.outputs; ++o) {
        const std::size_t output = group * s.outputs + o;
        tap_sums(sums, image, offsets, g.weight + output * depth, depth,
                 g.bias == nullptr ? sum_type{0} : g.bias[output], g.epilogue == epilogue::relu,
                 (rows - 1) * d.pitch + s.columns.out);
        copy_rows(g.y + (index * s.outputs + o) * s.pixels() + y0 * s.columns.out, s.columns.out, sums, d.pitch,
                  s.columns.out, rows);
      }
    }
  }

  /// Computes the input's gradient for segments [begin, end) of rows of phases, numbered as in convolve_depthwise. For
  /// each phase, convolves the output's gradient with the taps that read the phase.
  void convolve_back_depthwise(const convolution_input_gradient_arguments<T, sum_type>& g,
                               const depthwise_convolution& d, std::size_t begin, std::size_t end, void* buffer) const {
    const convolution_shape& s = g.shape;
    sum_type* const gradients = static_cast<sum_type*>(buffer);
    sum_type* const sums = gradients + s.outputs * d.plane;
    sum_type* const line = sums + d.phases() * d.plane;
    const std::size_t first_row = d.first_row(s), count = d.rows_of_input(s), segments = divided_up(count, d.rows);
    // For all outputs and taps, ordered by phase: the offset of the reads, the phase, and the index of the weight.
    std::size_t offsets[depthwise_depth], phases[depthwise_depth], sources[depthwise_depth];
    sum_type weights[depthwise_depth];
    const std::size_t depth = s.outputs * s.taps();
    std::size_t found = 0;
    for (std::size_t phase = 0; found < depth; ++phase)
      for (std::size_t tap = 0; tap < s.taps(); ++tap) {
        if (d.phase_of(s, tap) != phase) continue;
        for (std::size_t o = 0; o < s.outputs; ++o, ++found) {
          offsets[found] = o * d.plane + d.extra_rows * d.pitch + d.extra_columns - d.shift_of(s, tap);
          phases[found] = phase;
          sources[found] = o * s.depth() + tap;
        }
      }
    for (std::size_t o = 0; o < s.outputs; ++o) fill(gradients + o * d.plane, sum_type{0}, d.extra_columns);
    for (std::size_t task = begin; task < end; ++task) {
      const std::size_t index = task / segments, group = index % s.groups;
      const std::size_t r0 = task % segments * d.rows, rows = smaller(d.rows, count - r0);
      for (std::size_t o = 0; o < s.outputs; ++o)
        copy_gradient(gradients + o * d.plane + d.extra_columns, d, s, g.dy + (index * s.outputs + o) * s.pixels(),
                      first_row + r0, rows + d.extra_rows, d.extra_rows);
      for (std::size_t c = 0; c < s.channels; ++c) {
        const sum_type bias = g.bias == nullptr ? 0 : g.bias[group * s.channels + c];
        const sum_type* const weight = g.weight + group * s.outputs * s.depth() + c * s.taps();
        for (std::size_t p = 0; p < depth; ++p) weights[p] = weight[sources[p]];
        for (std::size_t p = 0, phase = 0; phase < d.phases(); ++phase) {
          const std::size_t p0 = p;
          while (p < depth && phases[p] == phase) ++p;
          tap_sums(sums + phase * d.plane, gradients, offsets + p0, weights + p0, p - p0, bias, false, rows * d.pitch);
        }
        T* const dx = g.dx + (index * s.channels + c) * s.plane();
        const window_axis& a = s.columns;
        if (a.stride == 1 && s.rows.stride == 1 && a.padding + a.in <= d.pitch) {
          copy_rows(dx + r0 * a.in, a.in, sums + a.padding, d.pitch, a.in, rows);
          continue;
        }
        for (std::size_t r = 0; r < rows; ++r)
          for (std::size_t f = 0; f < s.rows.stride; ++f) {
            const std::size_t at = (first_row + r0 + r) * s.rows.stride + f;
            if (!s.rows.inside(at)) continue;
            sum_type* to = line;
            if constexpr (std::is_same_v<T, sum_type>) to = dx + (at - s.rows.padding) * s.columns.in;
            if (f < d.row_phases) {
              join_phases(to, d, s.columns, sums + f * d.column_phases * d.plane + r * d.pitch, bias);
            } else {
              fill(to, bias, s.columns.in);
            }
            if constexpr (!std::is_same_v<T, sum_type>)
              narrow(dx + (at - s.rows.padding) * s.columns.in, line, s.columns.in);
          }
      }
    }
  }

  /// Computes the weight's gradient of a group, summed over samples [first, last), and sets sum [outputs, depth] to the
  /// gradient + beta sum. Vectors sum parts of a sample; the sums of the parts are added in double.
  void convolve_weight_depthwise(const convolution_weight_gradient_arguments<T>& g, const depthwise_convolution& d,
                                 std::size_t group, std::size_t first, std::size_t last, sum_type* sum, sum_type beta,
                                 void* buffer) const {
    const std::size_t lanes = gemm.lanes;
    const std::size_t most = convolution_block_depth * lanes;  // at most this many elements are summed in vectors
    constexpr std::size_t room = depthwise_depth + 9;
    const convolution_shape& s = g.shape;
    sum_type* const image = static_cast<sum_type*>(buffer);
    sum_type* const gradient = image + s.channels * d.phases() * d.plane;
    const std::size_t depth = s.depth();
    const std::size_t width = tile_width(depth, tap_widths), whole = padded_to(depth, width);
    const auto products = products_of(width);
    std::size_t offsets[room];
    for (std::size_t p = 0; p < depth; ++p) {
      const std::size_t tap = p % s.taps();
      offsets[p] = (p / s.taps() * d.phases() + d.phase_of(s, tap)) * d.plane + d.shift_of(s, tap);
    }
    double sums[depthwise_channels][room];
    for (std::size_t p = depth; p < whole; ++p) offsets[p] = 0;
    for (std::size_t o = 0; o < s.outputs; ++o)
      for (std::size_t p = 0; p < whole; ++p) sums[o][p] = 0;
    for (std::size_t n = first; n < last; ++n) {
      const std::size_t index = n * s.groups + group;
      for (std::size_t y0 = 0; y0 < s.rows.out; y0 += d.rows) {
        const std::size_t rows = smaller(d.rows, s.rows.out - y0), count = (rows - 1) * d.pitch + s.columns.out;
        for (std::size_t c = 0; c < s.channels; ++c)
          copy_phases(image + c * d.phases() * d.plane, d, s, g.x + (index * s.channels + c) * s.plane(), y0, rows);
        for (std::size_t o = 0; o < s.outputs; ++o) {
          copy_gradient(gradient, d, s, g.dy + (index * s.outputs + o) * s.pixels(), y0, rows, 0);
          for (std::size_t i = 0; i < count; i += most) {
            const std::size_t part = smaller(most, count - i);
            for (std::size_t p = 0; p < depth; p += width)
              products(sums[o] + p, image + i, offsets + p, gradient + i, part);
          }
        }
      }
    }
    for (std::size_t o = 0; o < s.outputs; ++o)
      for (std::size_t p = 0; p < depth; ++p) {
        sum_type& to = sum[o * depth + p];
        to = static_cast<sum_type>(sums[o][p]) + (beta == 0 ? 0 : beta * to);
      }
  }

 private:
  /// Packs `rows` rows of A, at most convolution_block_rows, into contiguous panels of tile_rows rows and depth
  /// `depth`. Element (i, p) is source[i * stride_i + p * stride_p]. With a `bias`, the depth of panels is one larger,
  /// and bias[i] is the last element of row i.
  template <class From>
  void pack_rows(sum_type* packed, const From* source, std::size_t stride_i, std::size_t stride_p, std::size_t rows,
                 std::size_t depth, const sum_type* bias = nullptr) const {
    const std::size_t whole = depth + (bias != nullptr ? 1 : 0);
    const std::size_t tile_rows = gemm.tile_rows;
    for (std::size_t i = 0; i < rows; i += tile_rows) {
      const std::size_t height = smaller(tile_rows, rows - i), width = panel_width(height, tile_rows, few_rows);
      sum_type* const panel = packed + i * whole;
      if constexpr (std::is_same_v<From, T>)
        pack(panel, width, source + i * stride_i, stride_i, stride_p, height, depth);
      else
        gemm.pack(panel, width, source + i * stride_i, stride_i, stride_p, height, depth);
      if (bias == nullptr) continue;
      for (std::size_t l = 0; l < width; ++l) panel[depth * width + l] = l < height ? bias[i + l] : sum_type{0};
    }
  }

  /// Packs rows [begin, begin + rows) of the weights of a transposed convolution in the layout of pack_rows. `s` is the
  /// shape of the transposed convolution, whose channels are the original convolution's outputs and whose taps are in
  /// reverse order. Element (i, p) belongs to output p / taps of the original convolution.
  void pack_mirrored_rows(sum_type* packed, const convolution_shape& s, const sum_type* weight, std::size_t begin,
                          std::size_t rows, std::size_t p0, std::size_t depth, const sum_type* bias) const {
    const std::size_t whole = depth + (bias != nullptr ? 1 : 0), taps = s.taps(), tile_rows = gemm.tile_rows;
    for (std::size_t i = 0; i < rows; i += tile_rows) {
      const std::size_t height = smaller(tile_rows, rows - i), width = panel_width(height, tile_rows, few_rows);
      sum_type* to = packed + i * whole;
      for (std::size_t p = p0; p < p0 + depth; ++p, to += width) {
        const sum_type* const from = weight + (p / taps * s.outputs + begin + i) * taps + (taps - 1 - p % taps);
        for (std::size_t l = 0; l < width; ++l) to[l] = l < height ? from[l * taps] : sum_type{0};
      }
      if (bias == nullptr) continue;
      for (std::size_t l = 0; l < width; ++l) to[l] = l < height ? bias[begin + i + l] : sum_type{0};
    }
  }

  /// Adds the sums of one block of channels to the outputs of y from element `at` on; the first block overwrites the
  /// outputs.
  void store_outputs(const convolution_arguments<T, sum_type>& g, std::size_t at, const sum_type* sums,
                     std::size_t width, std::size_t count, std::size_t outputs, bool first, bool last) const {
    const std::size_t ldc = g.shape.pixels();
    const sum_type beta = first ? 0 : 1;
    const bool relu = !first && last && g.epilogue == epilogue::relu;
    if constexpr (std::is_same_v<T, sum_type>) {
      store_turned(g.y + at, ldc, sums, width, count, outputs, beta, relu);
    } else if (first && last) {
      store_rounded(g.y + at, ldc, sums, width, count, outputs);
    } else {
      store_turned(g.floats.sums + at, ldc, sums, width, count, outputs, beta, relu);
      if (!last) return;
      for (std::size_t o = 0; o < outputs; ++o) narrow(g.y + at + o * ldc, g.floats.sums + at + o * ldc, count);
    }
  }
};

}  // namespace devplace::detail
