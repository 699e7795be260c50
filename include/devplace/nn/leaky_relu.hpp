// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <ratio>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn {

/// Maps each element x to x where x > 0 and to `slope` x elsewhere: torch.nn.LeakyReLU. The slope is a std::ratio of at
/// least 0: `leaky_relu<std::ratio<1, 5>>`; `leaky_relu<>` has PyTorch's default, 1/100.
template <class SlopeRatio = std::ratio<1, 100>> struct leaky_relu : detail::elementwise_layer<leaky_relu<SlopeRatio>> {
  /// The slope, a std::ratio.
  using slope = SlopeRatio;
  static_assert(
      detail::number_of<slope> >= 0,
      "devplace: leaky_relu takes its slope as a ratio that is not negative: leaky_relu<std::ratio<1, 100>> for 0.01.");
  /// The function, and the input's gradient from the output `y` and the output's gradient `dy`.
  ///@{
  static auto value(const auto& x) { return where(x > 0, x, detail::number_of<slope> * x); }
  static auto gradient(const auto& dy, const auto& y) { return where(y > 0, dy, detail::number_of<slope> * dy); }
  ///@}
};

}  // namespace devplace::nn
