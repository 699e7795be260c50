// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/ops/softmax.hpp>

namespace devplace::nn {

/// x - log(sum of exp(x)) along the last axis.
struct log_softmax : detail::in_place_layer {
  /// Members that layer_for requires.
  ///@{
  static void forward(const auto& c) { log_softmax_into(detail::rows(c.output), detail::rows(c.input)); }
  static void backward(const auto& c) {
    log_softmax_backward_into(detail::rows(c.input_gradient), detail::rows(c.output), detail::rows(c.output_gradient));
  }
  ///@}
};

}  // namespace devplace::nn
