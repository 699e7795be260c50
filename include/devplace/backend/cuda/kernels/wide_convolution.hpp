// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/kernels/convolution.hpp>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/tensor/dtype.hpp>

// The passes of convolutions over 16-bit elements before and after their products, 16 bytes at a time.

namespace devplace::detail {

/// Writes patches 8 pixels at a time if matrix rows are aligned to 16 bytes. Reads elements one by one, because
/// adjacent taps read overlapping, unaligned ranges.
template <half_precision_element T> struct wide_form<unfold_functor<T>> {
  static constexpr unsigned width = widest_access<T>;
  unfold_functor<T> f;

  bool is_wide() const { return f.pixels.count % width == 0 && is_aligned<width>(f.unfolded); }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    const auto out_rows = static_cast<std::uint32_t>(f.s.rows.out),
               out_columns = static_cast<std::uint32_t>(f.s.columns.out);
    auto tap = f.tap_of(i);
    pack<T, width> patches;
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < width; ++w) {
      patches.value[w] = f.element(tap);
      if (++tap.out_column == out_columns) {
        tap.out_column = 0;
        if (++tap.out_row == out_rows) tap.out_row = 0, tap.image += f.s.groups * f.s.channels;
      }
    }
    t.store(f.unfolded + i, patches);
  }
};

/// Returns whether gather_functor or finish_functor may take Width pixels at once: pixels that are adjacent in the
/// matrix are also adjacent in the images, and all addresses are aligned.
template <unsigned Width, class Functor> bool are_adjacent(const Functor& f) {
  return f.pixels.count % Width == 0 && f.pixels.first % Width == 0 && f.pixels.of_sample % Width == 0 &&
         is_aligned<Width>(f.y) && is_aligned<Width>(f.matrix);
}

template <half_precision_element T> struct wide_form<gather_functor<T>> {
  static constexpr unsigned width = widest_access<T>;
  gather_functor<T> f;

  bool is_wide() const { return are_adjacent<width>(f); }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    const std::size_t offset = f.pixels.in_images(i, f.outputs).offset;
    t.store(f.matrix + i, t.template load<T, width>(f.y + offset));
  }
};

template <half_precision_element T> struct wide_form<finish_functor<T>> {
  static constexpr unsigned width = widest_access<T>;
  finish_functor<T> f;

  bool is_wide() const { return are_adjacent<width>(f); }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    const auto [output, offset] = f.pixels.in_images(i, f.outputs);
    const auto sums = t.template load<float, width>(f.matrix + i);
    t.store(f.y + offset, pack_of<T, width>([&](unsigned w) { return f.finished(sums.value[w], output); }));
  }
};

/// Adds bias and activation to images of any extent, with one division per 8 elements.
template <half_precision_element T> struct wide_form<finish_images_functor<T>> {
  static constexpr unsigned width = widest_access<T>;
  finish_images_functor<T> f;

  bool is_wide() const { return is_aligned<width>(f.image); }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    const std::size_t plane = quotient(i, f.pixels);
    std::size_t position = i - plane * f.pixels, channel = plane - quotient(plane, f.channels) * f.channels;
    auto image = t.template load<T, width>(f.image + i);
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < width; ++w) {
      if (position == f.pixels) {
        position = 0;
        channel = channel + 1 == f.channels ? 0 : channel + 1;
      }
      image.value[w] = f.finished(image.value[w], channel);
      ++position;
    }
    t.store(f.image + i, image);
  }
};

}  // namespace devplace::detail
