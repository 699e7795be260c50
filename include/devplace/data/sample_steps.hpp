// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/data/sample_image.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/number_format.hpp>
#include <devplace/tensor/dtype.hpp>

// Steps of transforms (data/transforms.hpp). Each is called as step(random), or as step(image, random);
// check(channels, height, width) checks its options once.

namespace devplace {

namespace detail {

inline void check_probability(const char* step, double probability) {
  if (!(probability >= 0 && probability <= 1))
    throw argument_error(
        {"transforms: ", step, ": the probability is ", format_number(probability), "; give a number from 0 to 1."});
}

}  // namespace detail

/// `(x - mean) / standard_deviation` with numbers for each channel, as torchvision's Normalize.
template <std::size_t Channels> struct normalize_channels {
  std::array<double, Channels> mean{};                ///< of each channel
  std::array<double, Channels> standard_deviation{};  ///< of each channel, above 0

  /// Changes an image; lists the options; throws argument_error unless the options fit the images.
  ///@{
  template <class T> void operator()(const sample_image<T>& image, sample_random&) const {
    for (std::size_t channel = 0; channel != Channels; ++channel) {
      const T middle = static_cast<T>(mean[channel]), divisor = static_cast<T>(standard_deviation[channel]);
      T* const first = image.row(channel, 0);
      std::transform(first, first + image.height * image.width, first, [=](T x) { return (x - middle) / divisor; });
    }
  }
  static void for_each_option(auto& self, auto&& f) {
    for (std::size_t channel = 0; channel != Channels; ++channel)
      f("mean", self.mean[channel]), f("standard_deviation", self.standard_deviation[channel]);
  }
  void check(std::size_t channels, std::size_t, std::size_t) const {
    if (channels != Channels)
      throw argument_error({"transforms: normalize_channels: it has numbers for ", Channels,
                            " channels, and the samples have ", channels,
                            "; give one mean and one standard deviation for each channel."});
    for (const double deviation : standard_deviation)
      if (!detail::is_finite(deviation) || deviation <= 0)
        throw argument_error({"transforms: normalize_channels: a standard deviation is ",
                              detail::format_number(deviation), "; give finite numbers above 0."});
  }
  ///@}
};

/// Pads the image by `padding` pixels of the value `fill` on each side and crops it to its size at a random position,
/// as torchvision's RandomCrop with padding.
struct random_crop {
  std::size_t padding = 0;  ///< at least 1
  double fill = 0;          ///< value of the pixels from outside, before scaling

  /// Draws a move; lists the options; throws argument_error unless the options fit the images.
  ///@{
  sample_move operator()(sample_random& random) const {
    const double most = static_cast<double>(padding), down = static_cast<double>(random.below(2 * padding + 1));
    return {.x = static_cast<double>(random.below(2 * padding + 1)) - most, .y = down - most};
  }
  static void for_each_option(auto& self, auto&& f) { f("padding", self.padding), f("fill", self.fill); }
  void check(std::size_t, std::size_t height, std::size_t width) const {
    if (padding == 0 || padding > std::max(height, width))
      throw argument_error({"transforms: random_crop: the padding is ", padding, " and an image has ", height,
                            " rows of ", width, "; give at least 1 pixel and at most the longer side."});
  }
  ///@}
};

/// Mirrors the image left to right with a probability.
struct horizontal_flip {
  double probability = 0.5;  ///< from 0 to 1

  /// Draws a move; lists the options; throws argument_error unless the options fit the images.
  ///@{
  sample_move operator()(sample_random& random) const { return {.xx = random.unit() < probability ? -1.0 : 1.0}; }
  static void for_each_option(auto& self, auto&& f) { f("probability", self.probability); }
  void check(std::size_t, std::size_t, std::size_t) const { detail::check_probability("horizontal_flip", probability); }
  ///@}
};

/// Mirrors the image top to bottom with a probability.
struct vertical_flip {
  double probability = 0.5;  ///< from 0 to 1

  /// Draws a move; lists the options; throws argument_error unless the options fit the images.
  ///@{
  sample_move operator()(sample_random& random) const { return {.yy = random.unit() < probability ? -1.0 : 1.0}; }
  static void for_each_option(auto& self, auto&& f) { f("probability", self.probability); }
  void check(std::size_t, std::size_t, std::size_t) const { detail::check_probability("vertical_flip", probability); }
  ///@}
};

/// Turns a square image by 0, 90, 180 or 270 degrees, each as probable as the others.
struct quarter_turns {
  /// Draws a move; throws argument_error unless the images are square.
  ///@{
  sample_move operator()(sample_random& random) const {
    return sample_move::rotation(90 * static_cast<double>(random.below(4)));
  }
  void check(std::size_t, std::size_t height, std::size_t width) const {
    if (height != width)
      throw argument_error({"transforms: quarter_turns: an image has ", height, " rows of ", width,
                            "; quarter turns keep the extents of square images only."});
  }
  ///@}
};

/// Turns the image by a random angle between -`degrees` and `degrees`, as torchvision's RandomRotation with
/// InterpolationMode.BILINEAR. Pixels from outside are 0, or the `fill` of a random_crop.
struct random_rotation {
  double degrees = 0;  ///< above 0, up to 180

  /// Draws a move; lists the options; throws argument_error unless the options fit the images.
  ///@{
  sample_move operator()(sample_random& random) const {
    return sample_move::rotation((2 * random.unit() - 1) * degrees);
  }
  static void for_each_option(auto& self, auto&& f) { f("degrees", self.degrees); }
  void check(std::size_t, std::size_t, std::size_t) const {
    if (!(degrees > 0 && degrees <= 180))
      throw argument_error({"transforms: random_rotation: the angle is ", detail::format_number(degrees),
                            " degrees; give a number above 0 and up to 180."});
  }
  ///@}
};

/// Applies the steps that move a sample's pixels to the pixels of its target too, such as the mask of a segmentation.
/// Targets have a sample's rows and columns as their last axes. Each pixel of a target gets the value of the nearest
/// pixel, without interpolation.
struct with_targets {
  double fill = 0;  ///< value of the targets' pixels from outside, for example an ignored class

  /// Lists the options.
  static void for_each_option(auto& self, auto&& f) { f("target_fill", self.fill); }
};

/// Sets a square of `size` x `size` pixels around a random pixel to a value; the square is cut off at the image's
/// edges.
struct cutout {
  std::size_t size = 0;  ///< at least 1
  double value = 0;      ///< of the square's pixels

  /// Changes an image; lists the options; throws argument_error unless the options fit the images.
  ///@{
  template <class T> void operator()(const sample_image<T>& image, sample_random& random) const {
    const std::size_t y = random.below(image.height), x = random.below(image.width), before = size / 2;
    const std::size_t top = y - std::min(y, before), left = x - std::min(x, before);
    const std::size_t bottom = std::min(image.height, y + size - before),
                      right = std::min(image.width, x + size - before);
    for (std::size_t channel = 0; channel != image.channels; ++channel)
      for (std::size_t row = top; row != bottom; ++row)
        std::fill(image.row(channel, row) + left, image.row(channel, row) + right, static_cast<T>(value));
  }
  static void for_each_option(auto& self, auto&& f) { f("size", self.size), f("value", self.value); }
  void check(std::size_t, std::size_t height, std::size_t width) const {
    if (size == 0 || size > 2 * std::max(height, width))
      throw argument_error({"transforms: cutout: the size is ", size, " pixels and an image has ", height, " rows of ",
                            width, "; give at least 1 pixel and at most twice the longer side."});
  }
  ///@}
};

/// Mixes each sample and its target with another pair, drawn from all data: `weight * a + (1 - weight) * b`. The weight
/// is drawn from the distribution Beta(alpha, alpha) (Zhang et al., mixup, ICLR 2018). The steps before mixup apply to
/// the other sample too. mixup must be the last step and needs floating-point targets; for classes, give tensors of
/// probabilities.
struct mixup {
  double alpha = 0.2;  ///< above 0, up to 4; large values mix more evenly

  /// Returns the index of the other pair `b`, and the weight of `a`.
  std::pair<std::size_t, double> partner(std::size_t samples, sample_random& random) const {
    const std::size_t other = random.below(samples);
    // Jöhnk's method with logarithms, because powers of 1 / alpha would be zero for a small alpha.
    for (;;) {
      const double a = std::log(1 - random.unit()) / alpha, b = std::log(1 - random.unit()) / alpha;
      const double larger = std::max(a, b), sum = larger + std::log(std::exp(a - larger) + std::exp(b - larger));
      if (sum <= 0) return {other, std::exp(a - sum)};
    }
  }
  /// Lists the options; throws argument_error for an alpha out of its range.
  ///@{
  static void for_each_option(auto& self, auto&& f) { f("alpha", self.alpha); }
  void check(std::size_t, std::size_t, std::size_t) const {
    if (!(alpha > 0 && alpha <= 4))
      throw argument_error(
          {"transforms: mixup: alpha is ", detail::format_number(alpha), "; give a number above 0 and up to 4."});
  }
  ///@}
};

}  // namespace devplace
