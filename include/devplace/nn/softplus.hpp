// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <ratio>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/ops/activations.hpp>

namespace devplace::nn {

/// log(1 + exp(beta x)) / beta of each element, and x where beta x is above the threshold: torch.nn.Softplus. Beta,
/// which is positive, and the threshold are std::ratio: `softplus<std::ratio<2>, std::ratio<10>>`; `softplus<>` has
/// PyTorch's defaults, 1 and 20.
template <class BetaRatio = std::ratio<1>, class ThresholdRatio = std::ratio<20>>
struct softplus : detail::elementwise_layer<softplus<BetaRatio, ThresholdRatio>, keep::input> {
  /// Beta and threshold, each a std::ratio.
  ///@{
  using beta = BetaRatio;
  using threshold = ThresholdRatio;
  ///@}
  static_assert(
      detail::number_of<beta> > 0 && requires { threshold::num; },
      "devplace: softplus takes beta, positive, and threshold as ratios: softplus<std::ratio<2>, std::ratio<20>>.");
  /// The function, and the input's gradient from the input `x` and the output's gradient `dy`.
  ///@{
  static auto value(const auto& x) {
    return where(factor * x > highest, x, devplace::softplus(factor * x) * (1 / factor));
  }
  static auto gradient(const auto& dy, const auto& x) {
    return where(factor * x > highest, dy, dy * devplace::sigmoid(factor * x));
  }
  ///@}

 private:
  static constexpr double factor = detail::number_of<beta>, highest = detail::number_of<threshold>;
};

}  // namespace devplace::nn
