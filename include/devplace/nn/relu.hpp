// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn {

/// max(x, 0) of each element; NaN stays NaN. The gradient is 0 at x = 0 and passed on at NaN, as in PyTorch.
struct relu : detail::elementwise_layer<relu> {
  /// The function, and the input's gradient from the output `y` and the output's gradient `dy`.
  ///@{
  static auto value(const auto& x) { return devplace::relu(x); }
  static auto gradient(const auto& dy, const auto& y) { return where(y <= 0, 0, dy); }
  ///@}
};

}  // namespace devplace::nn
