// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <devplace/backend/cpu/detail/convolution_table.hpp>

// Direct convolutions: the loops over rows of images.
namespace devplace::detail {

template <class T>
void convolution_kernels<T>::convolve_rows(const convolution_arguments<T, sum_type>& g, bool mirrored,
                                           const direct_convolution& d, std::size_t begin, std::size_t end) const {
  const std::size_t lanes = gemm.lanes;
  const convolution_shape& s = g.shape;
  const direct_tiles<sum_type>& tiles = tiles_of(d.pixel_tile_width);
  sum_type* const weights = static_cast<sum_type*>(gemm_buffer::of_this_thread());
  sum_type* const bias = weights + convolution_depth * 2 * lanes;
  sum_type* const images = bias + 2 * lanes;
  sum_type sums[direct_sums<sum_type>] = {};
  // Several rows of outputs, or a part of one row, are stored at a time.
  const std::size_t together = s.columns.out < direct_pixels ? direct_pixels / s.columns.out : 1;
  const std::size_t width = together > 1 ? s.columns.out : direct_pixels / d.pixel_tile_width * d.pixel_tile_width;
  std::size_t offsets[convolution_depth];
  for (std::size_t c = 0; c < d.channels; ++c)
    for (std::size_t tap = 0; tap < s.taps(); ++tap)
      offsets[c * s.taps() + tap] = c * d.plane + d.at_tap(s, mirrored ? s.taps() - 1 - tap : tap);

  for (std::size_t block_end, first = begin; first < end; first = block_end) {
    const std::size_t group = first / (s.rows.out * s.samples), group_end = (group + 1) * s.rows.out * s.samples;
    const auto segment_end = [&](std::size_t at) { return smaller(d.segment_end(s, at), end); };
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
        if (mirrored) {
          for (std::size_t c = 0; c < channels; ++c)
            gemm.pack(weights + c * taps * across, across, weight + ((c0 + c) * s.outputs + o0) * taps, taps, 1, count,
                      taps);
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

template <class T>
void convolution_kernels<T>::convolve_weight_rows(const convolution_weight_gradient_arguments<T>& g,
                                                  const direct_convolution& d, const weight_sum<sum_type>& of,
                                                  std::size_t c0, std::size_t channels) const {
  const std::size_t lanes = gemm.lanes;
  const convolution_shape& s = g.shape;
  const direct_tiles<sum_type>& tiles = tiles_of(d.patch_tile_width);
  sum_type* const images = static_cast<sum_type*>(gemm_buffer::of_this_thread());
  sum_type* const gradients = images + d.gradient_segments * d.channels * d.plane;
  sum_type sums[16 * 2 * 64 / sizeof(sum_type)] = {};
  std::size_t offsets[convolution_depth + 16] = {};
  const std::size_t depth = channels * s.taps(), segment = d.rows * s.columns.out * 2 * lanes;
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t tap = 0; tap < s.taps(); ++tap) offsets[c * s.taps() + tap] = c * d.plane + d.at_tap(s, tap);

  const std::size_t end = of.last * s.rows.out;
  sum_type beta = of.beta;
  for (std::size_t block_end, begin = of.first * s.rows.out; begin < end; begin = block_end, beta = 1) {
    sum_type* image = images;
    block_end = begin;
    for (std::size_t i = 0; i < d.gradient_segments && block_end < end; ++i, image += d.channels * d.plane) {
      const std::size_t at = block_end, sample = at / s.rows.out;
      block_end = d.segment_end(s, at);
      copy_segment(image, d, s, g.x + ((sample * s.groups + of.group) * s.channels + c0) * s.plane(), channels,
                   at % s.rows.out, block_end - at);
    }
    for (std::size_t o0 = 0; o0 < s.outputs; o0 += 2 * lanes) {
      const std::size_t count = smaller(2 * lanes, s.outputs - o0), vectors = count > lanes ? 2 : 1;
      sum_type* gradient = gradients;
      for (std::size_t at = begin; at < block_end; at = d.segment_end(s, at), gradient += segment) {
        const T* const dy = g.dy + ((at / s.rows.out * s.groups + of.group) * s.outputs + o0) * s.pixels() +
                            at % s.rows.out * s.columns.out;
        const std::size_t pixels = (d.segment_end(s, at) - at) * s.columns.out;
        pack(gradient, vectors * lanes, dy, s.pixels(), 1, count, pixels);
      }
      for (std::size_t p = 0; p < depth; p += d.patch_tile_width) {
        fill(sums, sum_type{0}, 16 * vectors * lanes);
        image = images;
        gradient = gradients;
        for (std::size_t at = begin; at < block_end; at = d.segment_end(s, at)) {
          tiles.patches[vectors - 1](sums, image, offsets + p, d.segment_end(s, at) - at, s.columns.out,
                                     s.rows.stride * d.row, gradient);
          image += d.channels * d.plane;
          gradient += segment;
        }
        store_turned(of.sum + o0 * s.depth() + c0 * s.taps() + p, s.depth(), sums, vectors * lanes,
                     smaller(d.patch_tile_width, depth - p), count, beta, false);
      }
    }
  }
}

template <class T>
void convolution_kernels<T>::store_outputs(const convolution_arguments<T, sum_type>& g, std::size_t at,
                                           const sum_type* sums, std::size_t width, std::size_t count,
                                           std::size_t outputs, bool first, bool last) const {
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

}  // namespace devplace::detail
