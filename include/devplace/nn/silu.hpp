// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/ops/activations.hpp>

namespace devplace::nn {

/// x sigmoid(x) of each element, also known as swish: torch.nn.SiLU. 0 for -infinity, where PyTorch's formula gives
/// NaN.
struct silu : detail::elementwise_layer<silu, keep::input> {
  /// The function, and the input's gradient from the input `x` and the output's gradient `dy`.
  ///@{
  static auto value(const auto& x) { return devplace::silu(x); }
  static auto gradient(const auto& dy, const auto& x) {
    return map(devplace::detail::elementary::gated_gradient<devplace::detail::elementary::logistic>{}, dy, x);
  }
  ///@}
};

}  // namespace devplace::nn
