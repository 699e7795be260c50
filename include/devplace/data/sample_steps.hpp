// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/data/sample_image.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/number_format.hpp>
#include <devplace/tensor/dtype.hpp>

// Steps of transforms (data/transforms.hpp). Each is called as step(image, random); check(channels, height, width)
// checks its options once.

namespace devplace {

namespace detail {

[[noreturn]] inline void fail_step(const char* step, const std::string& found) {
  throw argument_error({"transforms: ", step, ": ", found});
}
inline void check_probability(const char* step, double probability) {
  if (!(probability >= 0 && probability <= 1))
    fail_step(step,
              joined({"the probability is ", detail::format_number(probability), "; give a number from 0 to 1."}));
}

/// Moves the image by rows and columns; pixels from outside get the value `fill`.
template <class T> void shift_image(const sample_image<T>& image, std::ptrdiff_t down, std::ptrdiff_t right, T fill) {
  const auto height = static_cast<std::ptrdiff_t>(image.height), width = static_cast<std::ptrdiff_t>(image.width);
  const std::ptrdiff_t begin = std::clamp<std::ptrdiff_t>(right, 0, width);
  const std::ptrdiff_t end = std::clamp<std::ptrdiff_t>(width + right, 0, width);
  for (std::size_t channel = 0; channel != image.channels; ++channel)
    for (std::ptrdiff_t k = 0; k != height; ++k) {
      const std::ptrdiff_t y = down > 0 ? height - 1 - k : k;  // reads a row before writing it
      T* const to = image.row(channel, static_cast<std::size_t>(y));
      const std::ptrdiff_t from_y = y - down;
      if (from_y < 0 || from_y >= height || begin >= end) {
        std::fill(to, to + width, fill);
        continue;
      }
      const T* const from = image.row(channel, static_cast<std::size_t>(from_y));
      if (right > 0)
        std::copy_backward(from, from + (end - begin), to + end);
      else
        std::copy(from + (begin - right), from + (end - right), to + begin);
      std::fill(to, to + begin, fill);
      std::fill(to + end, to + width, fill);
    }
}

/// Rotates the image around its centre, counterclockwise by an angle in radians. Interpolates bilinearly; pixels
/// outside of the image are 0.
template <class T> void rotate_image(const sample_image<T>& image, double angle) {
  thread_local std::vector<T> before;  // grows once in each thread that makes samples
  const std::size_t height = image.height, width = image.width, pixels = height * width;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double middle_y = (static_cast<double>(height) - 1) / 2, middle_x = (static_cast<double>(width) - 1) / 2;
  before.assign(image.data, image.data + image.channels * pixels);
  for (std::size_t y = 0; y != height; ++y)
    for (std::size_t x = 0; x != width; ++x) {
      const double down = static_cast<double>(y) - middle_y, right = static_cast<double>(x) - middle_x;
      const double from_x = middle_x + cosine * right - sine * down, from_y = middle_y + sine * right + cosine * down;
      const double left = std::floor(from_x), top = std::floor(from_y);
      for (std::size_t channel = 0; channel != image.channels; ++channel) {
        double sum = 0;
        for (const int k : {0, 1, 2, 3}) {
          const double at_x = left + k % 2, at_y = top + k / 2;  // NOLINT(bugprone-integer-division)
          if (at_x < 0 || at_y < 0 || at_x > static_cast<double>(width - 1) || at_y > static_cast<double>(height - 1))
            continue;
          const double weight = (1 - std::abs(from_x - at_x)) * (1 - std::abs(from_y - at_y));
          sum +=
              weight *
              static_cast<double>(
                  before[channel * pixels + static_cast<std::size_t>(at_y) * width + static_cast<std::size_t>(at_x)]);
        }
        image(channel, y, x) = static_cast<T>(sum);
      }
    }
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
      detail::fail_step("normalize_channels",
                        detail::joined({"it has numbers for ", Channels, " channels, and the samples have ", channels,
                                        "; give one mean and one standard deviation for each channel."}));
    for (const double deviation : standard_deviation)
      if (!detail::is_finite(deviation) || deviation <= 0)
        detail::fail_step("normalize_channels",
                          detail::joined({"a standard deviation is ", detail::format_number(deviation),
                                          "; give finite numbers above 0."}));
  }
  ///@}
};

/// Pads the image by `padding` pixels of the value `fill` on each side and crops it to its size at a random position,
/// as torchvision's RandomCrop with padding.
struct random_crop {
  std::size_t padding = 0;  ///< at least 1
  double fill = 0;          ///< value of the pixels from outside

  /// Changes an image; lists the options; throws argument_error unless the options fit the images.
  ///@{
  template <class T> void operator()(const sample_image<T>& image, sample_random& random) const {
    const auto most = static_cast<std::ptrdiff_t>(padding);
    const auto down = most - static_cast<std::ptrdiff_t>(random.below(2 * padding + 1));
    const auto right = most - static_cast<std::ptrdiff_t>(random.below(2 * padding + 1));
    detail::shift_image(image, down, right, static_cast<T>(fill));
  }
  static void for_each_option(auto& self, auto&& f) { f("padding", self.padding), f("fill", self.fill); }
  void check(std::size_t, std::size_t height, std::size_t width) const {
    if (padding == 0 || padding > std::max(height, width))
      detail::fail_step("random_crop",
                        detail::joined({"the padding is ", padding, " and an image has ", height, " rows of ", width,
                                        "; give at least 1 pixel and at most the longer side."}));
  }
  ///@}
};

/// Mirrors the image left to right with a probability.
struct horizontal_flip {
  double probability = 0.5;  ///< from 0 to 1

  /// Changes an image; lists the options; throws argument_error unless the options fit the images.
  ///@{
  template <class T> void operator()(const sample_image<T>& image, sample_random& random) const {
    if (random.unit() >= probability) return;
    for (std::size_t row = 0; row != image.channels * image.height; ++row)
      std::reverse(image.data + row * image.width, image.data + (row + 1) * image.width);
  }
  static void for_each_option(auto& self, auto&& f) { f("probability", self.probability); }
  void check(std::size_t, std::size_t, std::size_t) const { detail::check_probability("horizontal_flip", probability); }
  ///@}
};

/// Rotates the image by a random angle between -`degrees` and `degrees`, as torchvision's RandomRotation with
/// InterpolationMode.BILINEAR. Pixels from outside are 0.
struct random_rotation {
  double degrees = 0;  ///< above 0, up to 180

  /// Changes an image; lists the options; throws argument_error unless the options fit the images.
  ///@{
  template <class T> void operator()(const sample_image<T>& image, sample_random& random) const {
    constexpr double radian = 3.14159265358979323846 / 180;
    detail::rotate_image(image, (2 * random.unit() - 1) * degrees * radian);
  }
  static void for_each_option(auto& self, auto&& f) { f("degrees", self.degrees); }
  void check(std::size_t, std::size_t, std::size_t) const {
    if (!(degrees > 0 && degrees <= 180))
      detail::fail_step("random_rotation", detail::joined({"the angle is ", detail::format_number(degrees),
                                                           " degrees; give a number above 0 and up to 180."}));
  }
  ///@}
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
      detail::fail_step("cutout",
                        detail::joined({"the size is ", size, " pixels and an image has ", height, " rows of ", width,
                                        "; give at least 1 pixel and at most twice the longer side."}));
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
      detail::fail_step(
          "mixup", detail::joined({"alpha is ", detail::format_number(alpha), "; give a number above 0 and up to 4."}));
  }
  ///@}
};

}  // namespace devplace
