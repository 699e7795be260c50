// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn {

/// 1 / (1 + exp(-x)) of each element.
struct sigmoid : detail::elementwise_layer<sigmoid> {
  /// Trainers reject sigmoid as the last layer if the loss takes logits or logarithms of probabilities.
  static constexpr bool gives_probabilities = true;
  /// The function, and the input's gradient from the output `y` and the output's gradient `dy`.
  ///@{
  static auto value(const auto& x) { return devplace::sigmoid(x); }
  static auto gradient(const auto& dy, const auto& y) { return dy * y * (1 - y); }
  ///@}
};

}  // namespace devplace::nn
