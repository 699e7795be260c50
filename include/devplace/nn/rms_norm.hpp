// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/detail/row_normalization.hpp>

namespace devplace::nn {

/// Selects the element type's epsilon for rms_norm: 1.2e-7 for float, 2.2e-16 for double.
struct epsilon_of_type {};

/// w x / sqrt(mean of x^2 + epsilon) along the last axis, of `Features` elements: torch.nn.RMSNorm. `weight` w starts
/// as ones, [Features]. Epsilon is a std::ratio or, as PyTorch's default, epsilon_of_type.
template <std::size_t Features, class EpsilonRatio = epsilon_of_type>
struct rms_norm : detail::row_normalization<rms_norm<Features, EpsilonRatio>, Features, false> {
  /// Epsilon, a std::ratio or epsilon_of_type.
  using epsilon_ratio = EpsilonRatio;
  static_assert(std::is_same_v<epsilon_ratio, epsilon_of_type> || detail::number_of<epsilon_ratio> >= 0,
                "devplace: rms_norm takes epsilon as a ratio that is not negative: rms_norm<64, std::ratio<1, 1000>>.");

  /// Returns the number added to the mean of squares.
  template <class T> static constexpr double epsilon() {
    if constexpr (std::is_same_v<epsilon_ratio, epsilon_of_type>)
      return static_cast<double>(std::numeric_limits<T>::epsilon());
    else
      return detail::number_of<epsilon_ratio>;
  }
};

}  // namespace devplace::nn
