// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/nn/detail/in_place_layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn {

namespace detail {

/// dy * F's derivative at x.
template <class F> struct chain_rule {
  template <class T> DEVPLACE_HD T operator()(T dy, T x) const { return dy * F{}.derivative(x); }
};

/// Whether F is an empty functor that computes a function of one element, and the function's derivative.
template <class F>
concept differentiable_functor = std::is_empty_v<F> && requires(const F& f, float x, double y) {
  { f(x) } -> std::same_as<float>;
  { f(y) } -> std::same_as<double>;
  { f.derivative(x) } -> std::same_as<float>;
  { f.derivative(y) } -> std::same_as<double>;
};

}  // namespace detail

/// Applies a function of your own to each element, on every place and in every precision:
/// ```
/// struct softsign {
///   template <class T> DEVPLACE_HD T operator()(T x) const { return x / (1 + std::abs(x)); }
///   template <class T> DEVPLACE_HD T derivative(T x) const { return 1 / ((1 + std::abs(x)) * (1 + std::abs(x))); }
/// };
/// using net = nn::sequential<nn::linear<4, 8>, nn::elementwise<softsign>, nn::linear<8, 1>>;
/// ```
/// `F` has no members. Elements of 16 bits are passed as float. Backward reads the input.
template <class F> struct elementwise : detail::elementwise_layer<elementwise<F>, keep::input> {
  static_assert(
      detail::differentiable_functor<F>,
      "devplace: elementwise<F>: F is an empty struct whose const call operator takes and returns a float or a "
      "double, and so does its const member derivative; write both as templates.");
  /// The function, and the input's gradient from the input `x` and the output's gradient `dy`.
  ///@{
  static auto value(const auto& x) { return map(F{}, x); }
  static auto gradient(const auto& dy, const auto& x) { return map(detail::chain_rule<F>{}, dy, x); }
  ///@}
};

}  // namespace devplace::nn
