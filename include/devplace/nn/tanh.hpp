// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/rows.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn {

/// The hyperbolic tangent of each element.
struct tanh {
  /// Members that layer_for requires.
  ///@{
  template <class In>
  using output = In;
  static constexpr keep keeps = keep::output;
  static constexpr bool in_place = true;

  static void forward(const auto& c) { detail::flat(c.output) = devplace::tanh(detail::flat(c.input)); }
  static void backward(const auto& c) {
    using value_type = typename std::remove_cvref_t<decltype(c)>::value_type;
    const auto y = detail::flat(c.output);
    detail::flat(c.input_gradient) = detail::flat(c.output_gradient) * (value_type{1} - y * y);
  }
  ///@}
};

}  // namespace devplace::nn
