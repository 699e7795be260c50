// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>
#include <devplace/ops/detail/reduced_inputs.hpp>

namespace devplace::detail {

/// `count` output pixels, consecutive across samples of `of_sample` pixels, from pixel `first` of sample `sample` on.
/// Indices that fit 32 bits are divided in 32 bits, which is several times faster on GPUs.
struct pixel_range {
  std::size_t sample;
  std::uint32_t first, count, of_sample;

  struct position {
    std::size_t sample;
    std::uint32_t pixel;
  };
  DEVPLACE_HD position at(std::uint32_t index) const {
    return {sample + (first + index) / of_sample, (first + index) % of_sample};
  }

  struct image_position {
    std::uint32_t output;
    std::size_t offset;
  };
  /// Returns the position in images [samples, outputs, pixels] of element `i` of the range's matrix [outputs, count].
  DEVPLACE_HD image_position in_images(std::size_t i, std::size_t outputs) const {
    const auto index = static_cast<std::uint32_t>(i);
    const std::uint32_t output = index / count;
    const position element = at(index - output * count);
    return {output, (element.sample * outputs + output) * of_sample + element.pixel};
  }
};

/// Computes unfolded [groups * depth, count]: each column is the patch of a pixel, with zeros in the padding.
template <class T> struct unfold_functor {
  convolution_shape s;
  pixel_range pixels;
  const T* x;
  T* unfolded;

  DEVPLACE_HD void operator()(std::size_t i) const { unfolded[i] = element(tap_of(i)); }

  /// A tap of the window of a pixel; the row and the column of each.
  struct tap {
    std::size_t image;
    std::uint32_t row, column, out_row, out_column;
  };
  DEVPLACE_HD tap tap_of(std::size_t i) const {
    const auto index = static_cast<std::uint32_t>(i);
    const std::uint32_t row = index / pixels.count;
    const auto [sample, pixel] = pixels.at(index - row * pixels.count);
    const auto taps = static_cast<std::uint32_t>(s.taps()), width = static_cast<std::uint32_t>(s.columns.size);
    const auto out_width = static_cast<std::uint32_t>(s.columns.out);
    return {sample * s.groups * s.channels + row / taps, row % taps / width, row % taps % width, pixel / out_width,
            pixel % out_width};
  }
  /// Returns the element of an image at a tap, which is 0 in the padding.
  DEVPLACE_HD T element(const tap& t) const {
    const std::size_t y = s.rows.padded(t.out_row, t.row), z = s.columns.padded(t.out_column, t.column);
    return s.rows.inside(y) && s.columns.inside(z)
               ? x[t.image * s.plane() + (y - s.rows.padding) * s.columns.in + (z - s.columns.padding)]
               : T{};
  }
};

/// Computes the input's gradient of samples from `sample` on, by summing the columns of the samples' patches: dx = sums
/// + bias, or dx += sums for samples whose first pixels were in an earlier range. Each element adds its summands in
/// order. Even with 16-bit elements, a thread computes a single element, because it reads one float per tap of the
/// window and adjacent reads are aligned to 4 bytes only.
template <class T> struct fold_functor {
  convolution_shape s;
  pixel_range pixels;
  const computed_t<T>* unfolded;
  const T* bias;
  T* dx;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t plane = s.plane(), channels = s.groups * s.channels;
    const std::size_t sample = i / (channels * plane);
    const auto channel = static_cast<std::uint32_t>(i / plane % channels);
    const auto at = static_cast<std::uint32_t>(i % plane), in_width = static_cast<std::uint32_t>(s.columns.in);
    const std::uint32_t y = at / in_width, z = at % in_width;
    // Index of this sample's pixel 0 relative to the range; negative if the range begins within the sample.
    const auto base = static_cast<std::int64_t>(sample * s.pixels()) - static_cast<std::int64_t>(pixels.first);
    computed_t<T> sum{0};
    for (std::uint32_t row = 0; row < s.rows.size; ++row) {
      std::uint32_t out_row = 0;
      if (!window_of(s.rows, y, row, out_row)) continue;
      for (std::uint32_t column = 0; column < s.columns.size; ++column) {
        std::uint32_t out_column = 0;
        if (!window_of(s.columns, z, column, out_column)) continue;
        const std::int64_t index = base + static_cast<std::int64_t>(out_row * s.columns.out + out_column);
        if (index < 0 || index >= static_cast<std::int64_t>(pixels.count)) continue;
        sum += unfolded[((channel * s.rows.size + row) * s.columns.size + column) * pixels.count +
                        static_cast<std::size_t>(index)];
      }
    }
    T& element = dx[pixels.sample * channels * plane + i];
    if (base < 0)
      sum += static_cast<computed_t<T>>(element);
    else if (bias != nullptr)
      sum += static_cast<computed_t<T>>(bias[channel]);
    element = static_cast<T>(sum);
  }

 private:
  /// Returns whether tap `tap` of some window is at element `at` of the axis; sets `window` to the window's number.
  DEVPLACE_HD static bool window_of(const window_axis& axis, std::uint32_t at, std::uint32_t tap,
                                    std::uint32_t& window) {
    const auto end = static_cast<std::uint32_t>(at + axis.padding),
               offset = static_cast<std::uint32_t>(tap * axis.dilation);
    const auto stride = static_cast<std::uint32_t>(axis.stride);
    if (end < offset || (end - offset) % stride != 0) return false;
    window = (end - offset) / stride;
    return window < axis.out;
  }
};

/// Converts between images y [samples, outputs, pixels] and a matrix [outputs, count] of a range of their pixels.
/// `outputs` counts all groups.
///@{
template <class T> struct gather_functor {
  std::size_t outputs;
  pixel_range pixels;
  const T* y;
  T* matrix;

  DEVPLACE_HD void operator()(std::size_t i) const { matrix[i] = y[pixels.in_images(i, outputs).offset]; }
};
/// Adds the bias and applies the activation.
template <class T> struct finish_functor {
  std::size_t outputs;
  pixel_range pixels;
  const computed_t<T>* matrix;
  const T* bias;
  detail::epilogue epilogue;
  T* y;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const auto [output, offset] = pixels.in_images(i, outputs);
    y[offset] = finished(matrix[i], output);
  }
  DEVPLACE_HD T finished(computed_t<T> value, std::uint32_t output) const {
    if (bias != nullptr) value += static_cast<computed_t<T>>(bias[output]);
    return static_cast<T>(epilogue == epilogue::relu && value < 0 ? 0 : value);
  }
};
///@}

/// Computes image = epilogue(image + bias) for each element of images [samples, channels, pixels].
template <class T> struct finish_images_functor {
  std::size_t channels, pixels;
  const T* bias;
  detail::epilogue epilogue;
  T* image;

  DEVPLACE_HD void operator()(std::size_t i) const {
    image[i] = finished(image[i], i <= UINT32_MAX ? static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(pixels) %
                                                        static_cast<std::uint32_t>(channels)
                                                  : i / pixels % channels);
  }
  DEVPLACE_HD T finished(computed_t<T> value, std::size_t channel) const {
    if (bias != nullptr) value += static_cast<computed_t<T>>(bias[channel]);
    return static_cast<T>(epilogue == epilogue::relu && value < 0 ? 0 : value);
  }
};

/// Computes sums = gradient + beta sums, where `gradient` has 16 bits.
template <class T> struct add_rounded_gradient_functor {
  const T* gradient;
  float* sums;
  float beta;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const auto summand = static_cast<float>(gradient[i]);
    sums[i] = beta == 0 ? summand : summand + beta * sums[i];
  }
};

/// The elements of each channel of images [samples, channels, plane].
template <class T> struct convolution_bias_source {
  std::size_t plane;
  element_source<T> x;
  static constexpr bool has_only_runs = true;  // inner is 1

  DEVPLACE_HD element_source<T> of_result(std::size_t) const { return x; }
  std::size_t run_length() const { return plane; }
};

}  // namespace devplace::detail
