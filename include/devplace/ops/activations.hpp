// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include <devplace/ops/detail/activations.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace {

/// x Phi(x), where Phi is the standard normal distribution; 0 for -infinity. Within 10 ulp, even for large negative x,
/// where x (1 + erf) would cancel.
template <detail::operand_type X> constexpr auto gelu(X&& x) {
  return detail::unary<detail::elementary::gated<detail::elementary::normal>>(std::forward<X>(x));
}

/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, an approximation of gelu; 0 for -infinity.
template <detail::operand_type X> constexpr auto gelu_tanh(X&& x) {
  return detail::unary<detail::elementary::gated<detail::elementary::nearly_normal>>(std::forward<X>(x));
}

/// x sigmoid(x), also named swish, within 6 ulp; 0 for -infinity.
template <detail::operand_type X> constexpr auto silu(X&& x) {
  return detail::unary<detail::elementary::gated<detail::elementary::logistic>>(std::forward<X>(x));
}

/// log(1 + exp(x)), within 4 ulp.
template <detail::operand_type X> constexpr auto softplus(X&& x) {
  return detail::unary<detail::elementary::softplus>(std::forward<X>(x));
}

}  // namespace devplace
