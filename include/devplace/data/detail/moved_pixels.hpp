// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/data/detail/sample_transform.hpp>
#include <devplace/data/sample_image.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/detail/number_format.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// Body of a loop over the pixels of a batch: reads each pixel from the position that the move of its sample gives.
/// Positions are exact (see store_move), and bytes are interpolated in integers, so the bits are the same on every
/// place.
template <class T> struct moved_pixels {
  T* to;
  const T* from;
  const double* moves;  ///< of each sample, from store_move
  std::size_t channels, height, width;
  T fill;
  bool interpolates;  ///< bilinearly; integers other than bytes are never interpolated

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t row = i / width, column = i % width;
    const origin start = origin_of(row);
    const double x = static_cast<double>(column);
    to[i] = pixel(start.image, start.move[0] * x + start.x, start.move[3] * x + start.y);
  }

  /// On the CPU, copies along rows where an image is neither turned nor interpolated.
  void range(std::size_t begin, std::size_t end) const {
    while (begin != end) {
      const std::size_t row = begin / width, column = begin % width, n = std::min(end - begin, width - column);
      const origin start = origin_of(row);
      const double step = start.move[0], x = step * static_cast<double>(column) + start.x;
      const bool straight = start.move[3] == 0 && std::abs(step) == 1 && std::abs(x) < 0x1p40 && x == std::floor(x);
      if (straight && (start.y == std::floor(start.y) || !interpolates)) {
        // Reads row y of the image from pixel `first` to the right or left; pixels k of [low, high) lie in the image.
        const bool inside = start.y >= -0.5 && start.y < static_cast<double>(height) - 0.5;
        const auto first = static_cast<std::ptrdiff_t>(x), count = static_cast<std::ptrdiff_t>(n),
                   all = static_cast<std::ptrdiff_t>(width);
        const std::ptrdiff_t low = std::clamp<std::ptrdiff_t>(step > 0 ? -first : first - all + 1, 0, count);
        const std::ptrdiff_t high = inside ? std::clamp(step > 0 ? all - first : first + 1, low, count) : low;
        T* const line = to + begin;
        std::fill(line, line + low, fill);
        if (inside) {
          const T* const source = start.image + static_cast<std::size_t>(start.y + 0.5) * width;
          if (step > 0)
            std::copy(source + first + low, source + first + high, line + low);
          else
            std::reverse_copy(source + first + 1 - high, source + first + 1 - low, line + low);
        }
        std::fill(line + high, line + count, fill);
      } else {
        for (std::size_t k = 0; k != n; ++k) {
          const double right = static_cast<double>(column + k);
          to[begin + k] = pixel(start.image, step * right + start.x, start.move[3] * right + start.y);
        }
      }
      begin += n;
    }
  }

 private:
  /// The image of a row of the batch, its move, and where the row's first pixel comes from.
  struct origin {
    const T* image;
    const double* move;
    double x, y;
  };
  DEVPLACE_HD origin origin_of(std::size_t row) const {
    const std::size_t image = row / height;
    const double* const move = moves + image / channels * move_numbers;
    const double down = static_cast<double>(row % height);
    return {from + image * height * width, move, move[1] * down + move[2], move[4] * down + move[5]};
  }

  DEVPLACE_HD T pixel(const T* image, double x, double y) const {
    if (!(x > -1 && y > -1 && x < static_cast<double>(width) && y < static_cast<double>(height))) return fill;
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, std::uint8_t>) {
      const auto left = static_cast<std::ptrdiff_t>(x + 1) - 1, top = static_cast<std::ptrdiff_t>(y + 1) - 1;
      const double part_x = x - static_cast<double>(left), part_y = y - static_cast<double>(top);
      if (interpolates && (part_x != 0 || part_y != 0)) return between(image, left, top, part_x, part_y);
    }
    return at(image, static_cast<std::ptrdiff_t>(x + 1.5) - 1, static_cast<std::ptrdiff_t>(y + 1.5) - 1);
  }
  DEVPLACE_HD T between(const T* image, std::ptrdiff_t left, std::ptrdiff_t top, double part_x, double part_y) const {
    if constexpr (std::is_floating_point_v<T>) {
      double sum = 0;
      for (const int k : {0, 1, 2, 3}) {
        const double weight = (k % 2 == 0 ? 1 - part_x : part_x) * (k < 2 ? 1 - part_y : part_y);
        if (weight != 0) sum += weight * static_cast<double>(at(image, left + k % 2, top + k / 2));
      }
      return static_cast<T>(sum);
    } else {
      const auto right = static_cast<std::uint32_t>(part_x * 4096 + 0.5);
      const auto down = static_cast<std::uint32_t>(part_y * 4096 + 0.5);
      const std::uint32_t above = at(image, left, top) * (4096 - right) + at(image, left + 1, top) * right;
      const std::uint32_t below = at(image, left, top + 1) * (4096 - right) + at(image, left + 1, top + 1) * right;
      return static_cast<T>((above * (4096 - down) + below * down + (1u << 23)) >> 24);
    }
  }
  DEVPLACE_HD T at(const T* image, std::ptrdiff_t x, std::ptrdiff_t y) const {
    const auto column = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y);
    return column < width && row < height ? image[row * width + column] : fill;
  }
};

/// Writes a move as the matrix from pixels of the new image to pixels of the old one, counted from the first pixel.
/// The coefficients are rounded to multiples of 2^-32. Then sums and products with the numbers of pixels are exact for
/// coefficients below 8 and images below 65536 pixels in width and height.
inline void store_move(const sample_move& move, const image_size& size, double* to) {
  constexpr double unit = 0x1p32;
  const double middle_x = (static_cast<double>(size.width) - 1) / 2;
  const double middle_y = (static_cast<double>(size.height) - 1) / 2;
  const auto store = [&](double right, double down, double offset, double middle, double* row) {
    row[0] = std::nearbyint(right * unit) / unit;
    row[1] = std::nearbyint(down * unit) / unit;
    row[2] = std::nearbyint(offset * unit) / unit + middle - row[0] * middle_x - row[1] * middle_y;
  };
  store(move.xx, move.xy, move.x, middle_x, to);
  store(move.yx, move.yy, move.y, middle_y, to + 3);
}

/// Moves the pixels of `samples` images, in the order of the device's current stream. On the CPU, the calling thread
/// moves a single image alone.
template <class Backend, class T>
void move_pixels(int ordinal, void* to, const void* from, const double* moves, std::size_t samples,
                 const moved_images& how) {
  const image_size& size = how.size;
  const std::size_t count = samples * size.elements();
  for_each_index<Backend>(ordinal, count, samples == 1 ? count : 4096,
                          moved_pixels<T>{static_cast<T*>(to), static_cast<const T*>(from), moves, size.channels,
                                          size.height, size.width, static_cast<T>(how.fill), how.interpolates});
}

/// Adds the functions that move images with elements of type T. Throws argument_error unless T can represent the value
/// `fill`.
template <class Backend, class T> DEVPLACE_CONFIGURED moved_images moves_of(moved_images how) {
  if constexpr (std::is_integral_v<T>) {
    const double beyond = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;
    if (!(how.fill >= static_cast<double>(std::numeric_limits<T>::min()) && how.fill < beyond &&
          how.fill == std::floor(how.fill)))
      throw argument_error({"transforms: the fill of pixels from outside is ", format_number(how.fill), " and the ",
                            how.interpolates ? "features" : "targets", " are ", dtype_name<T>(),
                            "; give a number that this type can represent. Features are filled before scaling."});
  }
  how.in_thread = &move_pixels<backend::cpu, T>;
  if constexpr (provided<Backend, op::for_each>) how.on_device = &move_pixels<Backend, T>;
  return how;
}

}  // namespace devplace::detail
