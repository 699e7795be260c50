// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#ifndef DEVPLACE_TEST_REFERENCE_DIR
  #error "devplace: define DEVPLACE_TEST_REFERENCE_DIR as a string literal, the absolute path of tests/reference."
#endif

namespace devplace::test {

/// Returns the absolute path of a file in tests/reference.
inline std::string reference_path(std::string_view relative) {
  return std::string(DEVPLACE_TEST_REFERENCE_DIR "/").append(relative);
}

// The data of the training fixtures, bit for bit as in tests/reference/generator.py: every number is a function of
// (run, stream, index). Each float is exact or one multiplication of exact operands, so FMA contraction has no effect.

/// Computes splitmix64 as a function of its counter: state transition, then mixing.
constexpr std::uint64_t splitmix64(std::uint64_t counter) {
  std::uint64_t z = counter + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

/// The purpose of a sequence of random numbers.
enum class reference_stream : std::uint64_t {
  prototype = 1,
  sample_class,
  noise,
  flip,
  flipped_label,
  weight0,
  bias0,
  weight1,
  bias1
};

/// Returns the first counter of a stream: streams are 2^40 counters apart, runs sixteen streams.
constexpr std::uint64_t reference_seed(std::uint64_t run, reference_stream stream) {
  return (run * 16U + static_cast<std::uint64_t>(stream)) << 40U;
}

/// Returns a multiple of 2^-24 in [0, 1).
constexpr float reference_uniform(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(splitmix64(seed + index) >> 40U) * 0x1p-24F;
}

/// The runs of training/adam and training/sgd, chosen because PyTorch's float32 rounding turns no ReLU on or off in any
/// of their steps; tests/reference/README.md has the figures.
inline constexpr std::uint64_t reference_run_adam = 79;
inline constexpr std::uint64_t reference_run_sgd = 98;

/// The data of one training run: 200 steps with batch 64, so that sample = 64 * step + row.
struct reference_training {
  static constexpr std::size_t steps = 200;
  static constexpr std::size_t batch = 64;
  static constexpr std::size_t pixels = 784;
  static constexpr std::size_t hidden = 256;
  static constexpr std::size_t classes = 10;

  std::uint64_t run;

  /// Returns the class whose prototype an image is made from.
  constexpr std::uint64_t sample_class(std::uint64_t sample) const {
    return drawn(reference_stream::sample_class, sample) % classes;
  }

  /// Returns the sample's class or, for one sample in ten, a random label.
  constexpr std::int64_t label(std::uint64_t sample) const {
    const bool flips = drawn(reference_stream::flip, sample) % 10U == 0U;
    const std::uint64_t other = drawn(reference_stream::flipped_label, sample) % std::uint64_t{classes};
    return static_cast<std::int64_t>(flips ? other : sample_class(sample));
  }

  /// Returns (256 * prototype bit + noise byte - 256) / 1024, in [-1/4, 1/4).
  constexpr float pixel(std::uint64_t sample, std::uint64_t index) const {
    const std::uint64_t prototype = drawn(reference_stream::prototype, sample_class(sample) * pixels + index) >> 63U;
    const std::uint64_t noise = drawn(reference_stream::noise, sample * pixels + index) >> 56U;
    return (static_cast<float>(256U * prototype + noise) - 256.0F) / 1024.0F;
  }

  /// Returns the images of `count` samples from `first`: [count][784], row-major.
  std::vector<float> images(std::uint64_t first, std::size_t count) const {
    std::vector<float> values;
    for (std::size_t row = 0; row < count; ++row)
      for (std::size_t index = 0; index < pixels; ++index) values.push_back(pixel(first + row, index));
    return values;
  }

  /// Returns the labels of `count` samples from `first`.
  std::vector<std::int64_t> labels(std::uint64_t first, std::size_t count) const {
    std::vector<std::int64_t> values;
    for (std::size_t row = 0; row < count; ++row) values.push_back(label(first + row));
    return values;
  }

  /// Return initial parameters, (uniform - 1/2) * (2 / sqrt(fan-in)). Weights are row-major [out][in], as in PyTorch.
  std::vector<float> weight0() const { return parameter(reference_stream::weight0, hidden * pixels, 28.0F); }
  std::vector<float> bias0() const { return parameter(reference_stream::bias0, hidden, 28.0F); }
  std::vector<float> weight1() const { return parameter(reference_stream::weight1, classes * hidden, 16.0F); }
  std::vector<float> bias1() const { return parameter(reference_stream::bias1, classes, 16.0F); }

 private:
  constexpr std::uint64_t drawn(reference_stream stream, std::uint64_t index) const {
    return splitmix64(reference_seed(run, stream) + index);
  }
  std::vector<float> parameter(reference_stream stream, std::size_t count, float root_fan_in) const {
    const float span = 2.0F / root_fan_in;
    std::vector<float> values;
    for (std::size_t index = 0; index < count; ++index)
      values.push_back((reference_uniform(reference_seed(run, stream), index) - 0.5F) * span);
    return values;
  }
};

}  // namespace devplace::test
