// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/ops/activations.hpp>

namespace devplace::nn {

/// x Phi(x) of each element, with the standard normal distribution Phi: torch.nn.GELU() (Hendrycks and Gimpel 2016).
/// Accurate for large negative x, and 0 for -infinity, where PyTorch's formula gives NaN.
struct gelu : detail::elementwise_layer<gelu, keep::input> {
  /// The function, and the input's gradient from the input `x` and the output's gradient `dy`.
  ///@{
  static auto value(const auto& x) { return devplace::gelu(x); }
  static auto gradient(const auto& dy, const auto& x) {
    return map(devplace::detail::elementary::gated_gradient<devplace::detail::elementary::normal>{}, dy, x);
  }
  ///@}
};

/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 of each element: torch.nn.GELU(approximate="tanh").
struct gelu_tanh : detail::elementwise_layer<gelu_tanh, keep::input> {
  /// The function, and the input's gradient from the input `x` and the output's gradient `dy`.
  ///@{
  static auto value(const auto& x) { return devplace::gelu_tanh(x); }
  static auto gradient(const auto& dy, const auto& x) {
    return map(devplace::detail::elementary::gated_gradient<devplace::detail::elementary::nearly_normal>{}, dy, x);
  }
  ///@}
};

}  // namespace devplace::nn
