// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/rows.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn {

/// 1 / (1 + exp(-x)) of each element.
struct sigmoid {
  /// Members that layer_for requires.
  ///@{
  template <class In>
  using output = In;
  static constexpr keep keeps = keep::output;
  static constexpr bool in_place = true;

  static void forward(const auto& c) { detail::flat(c.output) = devplace::sigmoid(detail::flat(c.input)); }
  static void backward(const auto& c) {
    using value_type = typename std::remove_cvref_t<decltype(c)>::value_type;
    const auto y = detail::flat(c.output);
    detail::flat(c.input_gradient) = detail::flat(c.output_gradient) * y * (value_type{1} - y);
  }
  ///@}
};

}  // namespace devplace::nn
