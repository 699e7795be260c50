// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <devplace/base/error.hpp>
#include <devplace/data/loader_options.hpp>
#include <devplace/ops/detail/byte_scale.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// Integer types of features that are not scaled, such as tokens of a text; not uint8, which is the type of pixels.
template <class T>
concept numbering_element = std::integral<T> && !std::same_as<T, std::uint8_t>;

/// Computes `(x * scale - mean) / standard_deviation` of features of type From as elements of type T.
template <element From, element T> class feature_scale {
 public:
  explicit feature_scale(const loader_options& options)
      : factor_(static_cast<T>(options.scale.value_or(1) / options.standard_deviation)),
        offset_(static_cast<T>(-options.mean / options.standard_deviation)) {}

  void operator()(T* to, const From* from, std::size_t count) const {
    const T factor = factor_, offset = offset_;
    if (factor == T{1} && offset == T{0}) {
      std::copy_n(from, count, to);  // keeps every bit, also the sign of -0
      return;
    }
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i]) * factor + offset;
  }

 private:
  T factor_, offset_;
};

/// Scales uint8 features, with the same bits as scale_bytes_into on any place. The default is x / 255, correctly
/// rounded, as in torchvision's ToTensor.
template <floating_element T> class feature_scale<std::uint8_t, T> {
 public:
  explicit feature_scale(const loader_options& options)
      : scale_(options.scale, options.mean, options.standard_deviation) {}

  void operator()(T* to, const std::uint8_t* from, std::size_t count) const {
    scale_byte_range(to, from, count, scale_);
  }

  /// The parameters of this scaling, for devices.
  const byte_scale<T>& bytes() const { return scale_; }

 private:
  byte_scale<T> scale_;
};

/// Copies integer features.
template <numbering_element T> class feature_scale<T, T> {
 public:
  explicit feature_scale(const loader_options& options) {
    if (options.scale.value_or(1) != 1 || options.mean != 0 || options.standard_deviation != 1)
      throw argument_error(
          "loader: the features are integers, which are not scaled; leave out the options scale, mean and "
          "standard_deviation, or convert the features with cast<float>(x) first.");
  }

  void operator()(T* to, const T* from, std::size_t count) const { std::copy_n(from, count, to); }
};

}  // namespace devplace::detail
