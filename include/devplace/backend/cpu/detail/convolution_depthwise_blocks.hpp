// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/backend/cpu/detail/convolution_table.hpp>

// Depthwise convolutions: the loops over segments of channels.
namespace devplace::detail {

template <class T>
void convolution_kernels<T>::convolve_depthwise(const convolution_arguments<T, sum_type>& g,
                                                const depthwise_convolution& d, std::size_t begin,
                                                std::size_t end) const {
  const convolution_shape& s = g.shape;
  sum_type* const image = static_cast<sum_type*>(gemm_buffer::of_this_thread());
  sum_type* const sums = image + s.channels * d.phases() * d.plane;
  const std::size_t segments = divided_up(s.rows.out, d.rows), depth = s.depth();
  std::size_t offsets[depthwise_depth];
  for (std::size_t p = 0; p < depth; ++p) offsets[p] = d.offset_of(s, p);
  for (std::size_t task = begin; task < end; ++task) {
    const std::size_t index = task / segments, group = index % s.groups;  // index: sample * s.groups + group
    const std::size_t y0 = task % segments * d.rows, rows = smaller(d.rows, s.rows.out - y0);
    for (std::size_t c = 0; c < s.channels; ++c)
      copy_phases(image + c * d.phases() * d.plane, d, s, g.x + (index * s.channels + c) * s.plane(), y0, rows);
    for (std::size_t o = 0; o < s.outputs; ++o) {
      const std::size_t output = group * s.outputs + o;
      tap_sums(sums, image, offsets, g.weight + output * depth, depth, g.bias == nullptr ? sum_type{0} : g.bias[output],
               g.epilogue == epilogue::relu, (rows - 1) * d.pitch + s.columns.out);
      copy_rows(g.y + (index * s.outputs + o) * s.pixels() + y0 * s.columns.out, s.columns.out, sums, d.pitch,
                s.columns.out, rows);
    }
  }
}

template <class T>
void convolution_kernels<T>::convolve_back_depthwise(const convolution_input_gradient_arguments<T, sum_type>& g,
                                                     const depthwise_convolution& d, std::size_t begin,
                                                     std::size_t end) const {
  const convolution_shape& s = g.shape;
  sum_type* const gradients = static_cast<sum_type*>(gemm_buffer::of_this_thread());
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

template <class T>
void convolution_kernels<T>::convolve_weight_depthwise(const convolution_weight_gradient_arguments<T>& g,
                                                       const depthwise_convolution& d,
                                                       const weight_sum<sum_type>& of) const {
  const std::size_t lanes = gemm.lanes;
  const std::size_t most = convolution_block_depth * lanes;  // at most this many elements are summed in vectors
  constexpr std::size_t room = depthwise_depth + 9;
  const convolution_shape& s = g.shape;
  sum_type* const image = static_cast<sum_type*>(gemm_buffer::of_this_thread());
  sum_type* const gradient = image + s.channels * d.phases() * d.plane;
  const std::size_t depth = s.depth();
  const std::size_t width = tile_width(depth, tap_widths), whole = padded_to(depth, width);
  const auto products = products_of(width);
  std::size_t offsets[room];
  for (std::size_t p = 0; p < depth; ++p) offsets[p] = d.offset_of(s, p);
  double sums[depthwise_channels][room];
  for (std::size_t p = depth; p < whole; ++p) offsets[p] = 0;
  for (std::size_t o = 0; o < s.outputs; ++o)
    for (std::size_t p = 0; p < whole; ++p) sums[o][p] = 0;
  for (std::size_t n = of.first; n < of.last; ++n) {
    const std::size_t index = n * s.groups + of.group;
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
      sum_type& to = of.sum[o * depth + p];
      to = static_cast<sum_type>(sums[o][p]) + (of.beta == 0 ? 0 : of.beta * to);
    }
}

}  // namespace devplace::detail
