// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <ratio>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn {

/// Maps each element x to x where x > 0 and to `alpha` (exp(x) - 1) elsewhere: torch.nn.ELU. Alpha is a positive
/// std::ratio: `elu<std::ratio<3, 2>>`; `elu<>` has PyTorch's default, 1.
template <class AlphaRatio = std::ratio<1>> struct elu : detail::elementwise_layer<elu<AlphaRatio>> {
  /// Alpha, a std::ratio.
  using alpha = AlphaRatio;
  static_assert(detail::number_of<alpha> > 0,
                "devplace: elu takes its alpha as a positive ratio: elu<std::ratio<3, 2>> for 1.5.");
  /// The function, and the input's gradient from the output `y` and the output's gradient `dy`.
  ///@{
  static auto value(const auto& x) { return where(x > 0, x, detail::number_of<alpha> * expm1(x)); }
  static auto gradient(const auto& dy, const auto& y) { return where(y > 0, dy, dy * (y + detail::number_of<alpha>)); }
  ///@}
};

}  // namespace devplace::nn
