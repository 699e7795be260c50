// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/layer.hpp>
#include <devplace/tensor/copy.hpp>

namespace devplace::nn {

/// Merges the axes of a sample: [batch, 8, 8] becomes [batch, 64]. Costs nothing inside a network.
struct flatten {
  /// Members that layer_for requires.
  ///@{
  template <class In> using output = extents<detail::sample_size<In>>;
  static constexpr keep keeps = keep::nothing;
  static constexpr bool reshapes_only = true;

  static void forward(const auto& c) {
    if (c.output.data() != c.input.data()) copy(c.output, c.input.reshape(c.output.extents()));
  }
  static void backward(const auto& c) {
    if (c.input_gradient.data() != c.output_gradient.data())
      copy(c.input_gradient, c.output_gradient.reshape(c.input_gradient.extents()));
  }
  ///@}
};

}  // namespace devplace::nn
