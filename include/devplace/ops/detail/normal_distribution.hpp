// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/detail/exponential.hpp>

namespace devplace::detail {

/// Constants of the normal distribution's tail for a floating-point format. The coefficients are those of the
/// polynomial p in Phi(-a) = exp(-a^2 / 2) p(q) / (a + 5), q = (a - 5) / (a + 5). tests/reference/fit_normal_tail.py
/// prints the coefficients.
template <floating_element T> struct normal_constants;

template <> struct normal_constants<float> {
  static constexpr float limit = 14.43f;  // exp(-limit^2 / 2) and Phi(-limit) round to 0
  static constexpr int low_bits = 12;     // without these bits, a number's square is exact
  static constexpr int erf_terms = 7;     // (1/2)^14 / (7! 15) < 2^-29
  static constexpr float coefficients[] = {7.69193051e-1f,  -6.65382472e-1f, 4.95305464e-1f, -3.13534464e-1f,
                                           1.65022509e-1f,  -6.91023254e-2f, 2.07922791e-2f, -3.07144216e-3f,
                                           -8.52651583e-4f, 6.60748697e-4f,  1.09390882e-4f};
};

template <> struct normal_constants<double> {
  static constexpr double limit = 38.61;
  static constexpr int low_bits = 27;
  static constexpr int erf_terms = 13;  // (1/2)^26 / (13! 27) < 2^-57
  static constexpr double coefficients[] = {
      7.6919304975006296e-1,  -6.653825028900567e-1,  4.9530561596997641e-1,  -3.1353315667130454e-1,
      1.6502036617038472e-1,  -6.9118638706310164e-2, 2.079506679988318e-2,   -2.9933767705085424e-3,
      -7.9786939846607011e-4, 5.4489906477312989e-4,  -5.9375728009915864e-5, -4.9762814270585805e-5,
      1.6681213742042061e-5,  3.9809021578680411e-6,  -2.7692670959974302e-6, -3.3661536810124712e-7,
      4.331410356862585e-7,   4.2274993740065348e-8,  -6.594221662477223e-8,  -9.3135609943260591e-9,
      7.663071800760041e-9,   1.753048401408232e-9,   -1.5877468827473365e-10};
};

/// Horner's scheme for the tail's coefficients from number `K`.
template <std::size_t K, class T> [[gnu::always_inline]] DEVPLACE_HD constexpr T normal_series(T q) {
  constexpr T coefficient = normal_constants<T>::coefficients[K];
  if constexpr (K + 1 == sizeof(normal_constants<T>::coefficients) / sizeof(T))
    return coefficient;
  else
    return normal_series<K + 1>(q) * q + coefficient;
}

/// erf(x) sqrt(pi) / (2 x) = sum of (-x^2)^n / (n! (2 n + 1)) from term `N`, times (-1)^N n! / x^2N.
template <int N, class T> [[gnu::always_inline]] DEVPLACE_HD constexpr T erf_series(T square) {
  constexpr T term = inverse_factorial<T, N> / static_cast<T>(N % 2 == 0 ? 2 * N + 1 : -(2 * N + 1));
  if constexpr (N == normal_constants<T>::erf_terms)
    return term;
  else
    return erf_series<N + 1>(square) * square + term;
}

/// exp(-x^2 / 2) within 3 ulp for |x| <= normal_constants::limit; at the limit, the result is 0. Corrects the rounding
/// error of x^2, which exp magnifies by x^2 / 2.
template <class T> [[gnu::always_inline]] DEVPLACE_HD inline T gaussian(T x) {
  using bits = typename exponential_constants<T>::bits;
  const T high = same_bits<T>(same_bits<bits>(x) & -(bits{1} << normal_constants<T>::low_bits));
  const T exact = high * high;
  const T rest = DEVPLACE_AS_WRITTEN(x - high) * (x + high);
  const T square = DEVPLACE_AS_WRITTEN(exact + rest);
  const T error = rest - DEVPLACE_AS_WRITTEN(square - exact);
  const T e = fast_exp_below_64(square * T{-0.5});
  return e - e * (error * T{0.5});
}

/// The tail of the standard normal distribution: exp(-a^2 / 2), and Phi(-a) within 9 ulp, for 0 <= a <= limit.
template <class T> struct normal_tail {
  T density;      ///< exp(-a^2 / 2)
  T probability;  ///< Phi(-a)

  [[gnu::always_inline]] DEVPLACE_HD inline explicit normal_tail(T a) : density(gaussian(a)) {
    const T scale = T{1} / (a + T{5});
    probability = density * (normal_series<0>((a - T{5}) * scale) * scale);
  }
};

/// erf(x) within 4 ulp, exactly -1 and 1 for large x, -0 for -0, NaN for NaN: a power series for |x| < 1/2, and
/// 1 - 2 Phi(-sqrt(2) |x|) beyond.
template <floating_element T> [[gnu::always_inline]] DEVPLACE_HD inline T fast_erf(T x) {
  using bits = typename exponential_constants<T>::bits;
  constexpr bits sign_bit = lowest_number<bits>;
  const bits size = same_bits<bits>(x) & ~sign_bit;
  const T small = x * (static_cast<T>(1.12837916709551257390) * erf_series<0>(x * x));
  const T a = limited_to(normal_constants<T>::limit, same_bits<T>(size) * static_cast<T>(1.41421356237309504880));
  const bits large = same_bits<bits>(T{1} - 2 * normal_tail<T>(a).probability) | (same_bits<bits>(x) & sign_bit);
  const bits is_small = (size - same_bits<bits>(T{0.5})) >> (8 * sizeof(T) - 1);
  return same_bits<T>((same_bits<bits>(small) & is_small) | (large & ~is_small));
}

}  // namespace devplace::detail
