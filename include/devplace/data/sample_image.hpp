// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <devplace/base/seed.hpp>
#include <devplace/ops/detail/philox.hpp>
#include <devplace/ops/detail/random_body.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace {

/// Where a step of transforms reads the pixels that it moves: pixel (x, y) of the new image is the pixel at
/// (xx * x + xy * y + this->x, yx * x + yy * y + this->y) of the old one. Both positions count right and down from the
/// middle of the image. `{.xx = 0.5, .yy = 0.5}` shows the middle half in twice its size.
struct sample_move {
  /// The column from which a pixel is read, and the row.
  ///@{
  double xx = 1, xy = 0, x = 0;
  double yx = 0, yy = 1, y = 0;
  ///@}

  /// Turns the image around its middle, counterclockwise. Quarter turns are exact; all machines give the same bits.
  static sample_move rotation(double degrees) {
    const double turns = degrees / 360;
    const auto [cosine, sine] = detail::portable_cosine_and_sine(turns - std::floor(turns));
    return {.xx = cosine, .xy = -sine, .yx = sine, .yy = cosine};
  }

  /// This move and then the next one, as one move.
  constexpr sample_move then(const sample_move& next) const {
    return {xx * next.xx + xy * next.yx, xx * next.xy + xy * next.yy, xx * next.x + xy * next.y + x,
            yx * next.xx + yy * next.yx, yx * next.xy + yy * next.yy, yx * next.x + yy * next.y + y};
  }
};

/// One sample as an image (channels of rows of pixels), which steps of transforms change in place.
template <floating_element T> struct sample_image {
  T* data;               ///< the first pixel; the others follow, row by row and channel by channel
  std::size_t channels;  ///< 1 for extents of two axes
  std::size_t height;    ///< number of rows
  std::size_t width;     ///< number of columns

  /// A pixel.
  T& operator()(std::size_t channel, std::size_t y, std::size_t x) const { return row(channel, y)[x]; }
  /// The first pixel of a row.
  T* row(std::size_t channel, std::size_t y) const { return data + (channel * height + y) * width; }
};

/// The random numbers of one step for one sample in one epoch (Philox4x32-10). They depend neither on the thread nor on
/// the order in which samples are made.
class sample_random {
 public:
  /// `step` is the step's position among the steps of the transforms.
  constexpr sample_random(seed start, int epoch, std::size_t index, std::size_t step)
      : step_(static_cast<std::uint32_t>(step)), index_(index) {
    // "transfor" in ASCII: other uses of the same seed have other streams.
    constexpr std::uint64_t stream = 0x7472'616e'7366'6f72;
    key_ = detail::random_sequence(start.value, stream).key_in_block(static_cast<std::uint32_t>(epoch));
  }

  /// The next number: a multiple of 2^-53 in [0, 1).
  constexpr double unit() {
    if (left_ == 0) {
      words_ = detail::philox({{block_++, step_, detail::low_half(index_), detail::high_half(index_)}}, key_);
      left_ = 4;
    }
    left_ -= 2;
    return detail::unit_interval(words_.word[left_], words_.word[left_ + 1]);
  }

  /// The next number from 0 to `count` - 1; `count` is not 0, and less than 2^53.
  constexpr std::size_t below(std::size_t count) {
    // The largest product rounds to less than count, because unit() is at most 1 - 2^-53.
    return static_cast<std::size_t>(unit() * static_cast<double>(count));
  }

 private:
  detail::philox_key key_{};
  std::uint32_t step_;
  std::uint64_t index_;
  std::uint32_t block_ = 0;
  int left_ = 0;
  detail::philox_block words_{};
};

}  // namespace devplace
