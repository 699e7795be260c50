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
    using vector = typename vector_of<T, Bytes>::type;
    using loaded = typename vector_of<T, Bytes>::unaligned;
    if (n < lanes) return update_run<T, Bytes / 2>(to, from, n, beta, relu);
    vector x = *reinterpret_cast<const loaded*>(from);
    if (beta != T{0}) x += beta * *reinterpret_cast<const loaded*>(to);
    const vector zero{};
    if (relu) x = x < zero ? zero : x;
    *reinterpret_cast<loaded*>(to) = x;
    if (n > lanes) update_run<T, Bytes / 2>(to + lanes, from + lanes, n - lanes, beta, relu);
  }
}

/// Computes c[o * ldc + i] = sums[i * width + o] + beta c[o * ldc + i] for i < count and o < outputs, then applies ReLU
/// if `relu`.
template <class T>
DEVPLACE_TARGET inline void store_turned(T* c, std::size_t ldc, const T* sums, std::size_t width, std::size_t count,
                                         std::size_t outputs, T beta, bool relu) {
  constexpr std::size_t block = power_of_two_within(pack_bytes / sizeof(T));
  if (beta == T{0} && !relu && count >= block && outputs % block == 0) {
    for (std::size_t o = 0; o < outputs; o += block) {
      for (std::size_t i = 0; i + block < count; i += block)
        transpose<T, block>(c + o * ldc + i, ldc, sums + i * width + o, width);
      const std::size_t i = count - block;  // may overlap the previous block
      transpose<T, block>(c + o * ldc + i, ldc, sums + i * width + o, width);
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
template <class Rounded>
DEVPLACE_TARGET inline void store_rounded(Rounded* c, std::size_t ldc, const float* sums, std::size_t width,
                                          std::size_t count, std::size_t outputs) {
  constexpr std::size_t block = power_of_two_within(pack_bytes / sizeof(float));
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

/// Adds the sums of one block of channels to the outputs of y from element `at` on; the first block overwrites the
/// outputs.
template <class T>
DEVPLACE_TARGET inline void store_outputs(const convolution_arguments<T, computed_t<T>>& g, std::size_t at,
                                          const computed_t<T>* sums, std::size_t width, std::size_t count,
                                          std::size_t outputs, bool first, bool last) {
  using sum_type = computed_t<T>;
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
    for (std::size_t o = 0; o < outputs; ++o) copy_run(g.y + at + o * ldc, g.floats.sums + at + o * ldc, count);
  }
}

/// Copies the rows of one sample's channels that output rows [y0, y0 + n) read, with padding.
template <class T, class From>
DEVPLACE_TARGET inline void copy_segment(T* to, const direct_convolution& d, const convolution_shape& s,
                                         const From* image, std::size_t channels, std::size_t y0, std::size_t n) {
  const window_axis& a = s.columns;
  const std::size_t rows = d.span(s, n), first = y0 * s.rows.stride;
  const std::size_t top = first < s.rows.padding ? smaller(s.rows.padding - first, rows) : 0;
  const std::size_t inside = s.rows.in + s.rows.padding > first ? s.rows.in + s.rows.padding - first : 0;
  const std::size_t bottom = inside < rows ? inside < top ? top : inside : rows;
  for (std::size_t c = 0; c < channels; ++c, image += s.plane(), to += d.plane) {
    fill_run(to, T{0}, top * d.row);
    for (std::size_t f = 0; f < d.phases; ++f) {
      std::size_t begin = f < a.padding ? divided_up(a.padding - f, a.stride) : 0;
      begin = smaller(begin, d.phase);
      std::size_t end = a.in + a.padding > f ? divided_up(a.in + a.padding - f, a.stride) : 0;
      end = end < begin ? begin : smaller(end, d.phase);
      T* row = to + top * d.row + f * d.phase;
      for (std::size_t r = top; r < bottom; ++r, row += d.row) {
        for (std::size_t i = 0; i < begin; ++i) row[i] = T{0};
        if (begin < end)
          copy_strided(row + begin, image + (first + r - s.rows.padding) * a.in + begin * a.stride + f - a.padding,
                       end - begin, a.stride);
        for (std::size_t i = end; i < d.phase; ++i) row[i] = T{0};
      }
    }
    // The last tile of the last row reads beyond the row.
    fill_run(to + bottom * d.row, T{0}, (rows - bottom) * d.row + d.pixel_tile_width);
  }
}

/// Computes rows [begin, end) of outputs, numbered by group, then by sample, then by row. `Mirrored`: g is a transposed
/// convolution, whose channels are the original convolution's outputs and whose taps are in reverse order.
template <class T, bool Mirrored>
DEVPLACE_TARGET void convolve_rows(const convolution_arguments<T, computed_t<T>>& g, const direct_convolution& d,
                                   std::size_t begin, std::size_t end, void* buffer) {
  using sum_type = computed_t<T>;
  constexpr std::size_t lanes = vector_bytes / sizeof(sum_type);
  const convolution_shape& s = g.shape;
  const direct_tiles<sum_type>& tiles = direct_tiles_of<sum_type>(d.pixel_tile_width);
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
            pack(weights + c * taps * across, across, weight + ((c0 + c) * s.outputs + o0) * taps, taps, 1, count,
                 taps);
        } else {
          pack(weights, across, weight + o0 * s.depth() + c0 * taps, s.depth(), 1, count, depth);
        }
        fill_run(bias, sum_type{0}, 2 * lanes);
        if (g.bias != nullptr && is_first) copy_run(bias, g.bias + group * s.outputs + o0, count);
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
              store_outputs<T>(g, y + r0 * s.columns.out + x0, sums, vectors * lanes, (r1 - r0) * (x1 - x0), count,
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
template <class T>
DEVPLACE_TARGET void convolve_weight_rows(const convolution_weight_gradient_arguments<T>& g,
                                          const direct_convolution& d, std::size_t group, std::size_t first,
                                          std::size_t last, std::size_t c0, std::size_t channels, computed_t<T>* sum,
                                          computed_t<T> beta, void* buffer) {
  using sum_type = computed_t<T>;
  constexpr std::size_t lanes = vector_bytes / sizeof(sum_type);
  const convolution_shape& s = g.shape;
  const direct_tiles<sum_type>& tiles = direct_tiles_of<sum_type>(d.patch_tile_width);
  sum_type* const images = static_cast<sum_type*>(buffer);
  sum_type* const gradients = images + d.gradient_segments * d.channels * d.plane;
  sum_type sums[16 * 2 * lanes] = {};
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
        pack_numbers(gradient, vectors * lanes, dy, s.pixels(), 1, count, pixels);
      }
      for (std::size_t p = 0; p < depth; p += d.patch_tile_width) {
        fill_run(sums, sum_type{0}, 16 * vectors * lanes);
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
