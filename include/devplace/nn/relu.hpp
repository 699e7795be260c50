// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/rows.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn {

/// max(x, 0) of each element; NaN stays NaN. The gradient at 0 is 0, as in PyTorch.
struct relu {
  /// Members that layer_for requires.
  ///@{
  template <class In>
  using output = In;
  static constexpr keep keeps = keep::output;
  static constexpr bool in_place = true;

  static void forward(const auto& c) { detail::flat(c.output) = devplace::relu(detail::flat(c.input)); }
  static void backward(const auto& c) {
    using value_type = typename std::remove_cvref_t<decltype(c)>::value_type;
    detail::flat(c.input_gradient) =
        where(detail::flat(c.output) > value_type{0}, detail::flat(c.output_gradient), value_type{0});
  }
  ///@}
};

}  // namespace devplace::nn
