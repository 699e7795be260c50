// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/ops/detail/exponential.hpp>
#include <devplace/ops/detail/logarithm.hpp>
#include <devplace/ops/detail/normal_distribution.hpp>
#include <devplace/ops/elementwise.hpp>

// Functors of activations x F(x), where F is a symmetric distribution function, and of softplus, for host and devices.
// x F(x) = max(x, 0) - |x| t(|x|), where t(a) = F(-a) is the tail: large |x| cancel no digits, infinities give no NaN.
DEVPLACE_UNFUSED_BEGIN
namespace devplace::detail::elementary {

/// Tails of distributions for 0 <= a <= `limit`; beyond `limit`, tails round to 0. `probability` is F(-a); `slope` is
/// the product a F'(a).
///@{
template <class T> struct logistic {
  static constexpr T limit = exponential_constants<T>::limit;
  T probability;
  T slope;

  [[gnu::always_inline]] DEVPLACE_HD inline explicit logistic(T a, T exponent) {
    const exponential_quotient<T> e(-at_most(limit, exponent));
    const T scale = T{1} / (e.denominator + e.numerator());
    probability = e.numerator() * scale;
    slope = a * (probability * (e.denominator * scale));
  }
  [[gnu::always_inline]] DEVPLACE_HD inline explicit logistic(T a) : logistic(a, a) {}
};

template <class T> struct normal {
  static constexpr T limit = normal_constants<T>::limit;
  T probability;
  T slope;

  [[gnu::always_inline]] DEVPLACE_HD inline explicit normal(T a) {
    const normal_tail<T> tail(a);
    probability = tail.probability;
    slope = a * (tail.density * static_cast<T>(0.39894228040143267794));  // 1 / sqrt(2 pi)
  }
};

/// The logistic distribution of u = sqrt(8 / pi) (a + 0.044715 a^3), which approximates the normal distribution.
template <class T> struct nearly_normal : logistic<T> {
  static constexpr T root = static_cast<T>(1.59576912160573071176), cubic = static_cast<T>(0.044715);

  [[gnu::always_inline]] DEVPLACE_HD inline explicit nearly_normal(T a)
      : logistic<T>(a * (root * (1 + 3 * cubic * (a * a))), a * (root * (1 + cubic * (a * a)))) {}
};
///@}

/// x F(x).
template <template <class> class Distribution> struct gated {
  static constexpr bool floating_only = true, computes_much = true;

  template <class T> [[gnu::always_inline]] DEVPLACE_HD T operator()(T x) const {
    const T a = at_most(Distribution<T>::limit, std::fabs(x));
    return (x < T{0} ? -T{0} : x) - a * Distribution<T>(a).probability;
  }
};

/// dy times the derivative of x F(x), which is F(x) + x F'(x).
template <template <class> class Distribution> struct gated_gradient {
  static constexpr bool computes_much = true;

  template <class T> [[gnu::always_inline]] DEVPLACE_HD T operator()(T dy, T x) const {
    const Distribution<T> tail(limited_to(Distribution<T>::limit, std::fabs(x)));
    const T of_negative = tail.probability - tail.slope;
    // For positive x: 1 - of_negative. Selected by the sign bit: g++ does not vectorise a loop with a condition.
    using bits = typename exponential_constants<T>::bits;
    const bits negative = same_bits<bits>(x) >> (8 * sizeof(T) - 1);
    const T opposite = same_bits<T>(same_bits<bits>(of_negative) ^ (~negative & lowest_number<bits>));
    return dy * (same_bits<T>(same_bits<bits>(T{1}) & ~negative) + opposite);
  }
};

struct softplus {
  static constexpr bool floating_only = true, computes_much = true;

  template <class T> [[gnu::always_inline]] DEVPLACE_HD T operator()(T x) const {
    return (x < T{0} ? T{0} : x) + log_of_one_plus(fast_exp(-std::fabs(x)));
  }
};

}  // namespace devplace::detail::elementary
DEVPLACE_UNFUSED_END

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
