// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/ops/softmax.hpp>

namespace devplace::nn {

/// exp(x) / sum of exp(x) along the last axis. Leave it out before cross_entropy, which takes logits.
struct softmax : detail::in_place_layer {
  /// Trainers reject softmax as the last layer if the loss takes logits or logarithms of probabilities.
  static constexpr bool gives_probabilities = true;

  /// Members that layer_for requires.
  ///@{
  static void forward(const auto& c) { softmax_into(detail::rows(c.output), detail::rows(c.input)); }
  static void backward(const auto& c) {
    softmax_backward_into(detail::rows(c.input_gradient), detail::rows(c.output), detail::rows(c.output_gradient));
  }
  ///@}
};

}  // namespace devplace::nn
