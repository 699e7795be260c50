// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <ratio>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/detail/row_normalization.hpp>

namespace devplace::nn {

/// w (x - mean) / sqrt(variance + epsilon) + b along the last axis, of `Features` elements: torch.nn.LayerNorm.
/// `weight` w starts as ones and `bias` b as zeros, both [Features]; epsilon is a std::ratio.
template <std::size_t Features, class EpsilonRatio = std::ratio<1, 100000>>
struct layer_norm : detail::row_normalization<layer_norm<Features, EpsilonRatio>, Features, true> {
  /// Epsilon, a std::ratio.
  using epsilon_ratio = EpsilonRatio;
  static_assert(
      detail::number_of<epsilon_ratio> >= 0,
      "devplace: layer_norm takes epsilon as a ratio that is not negative: layer_norm<64, std::ratio<1, 1000>>.");

  /// Returns the number added to the variance.
  template <class T> static constexpr double epsilon() { return detail::number_of<epsilon_ratio>; }
};

}  // namespace devplace::nn
