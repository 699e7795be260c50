// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn {

/// The hyperbolic tangent of each element.
struct tanh : detail::elementwise_layer<tanh> {
  /// The function, and the input's gradient from the output `y` and the output's gradient `dy`.
  ///@{
  static auto value(const auto& x) { return devplace::tanh(x); }
  static auto gradient(const auto& dy, const auto& y) { return dy * (1 - y * y); }
  ///@}
};

}  // namespace devplace::nn
