// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/config.hpp>
#include <devplace/ops/detail/exponential.hpp>

DEVPLACE_UNFUSED_BEGIN
namespace devplace::detail {

/// Constants of the normal distribution's tail for a floating-point format. The coefficients are those of Phi(-a) =
/// exp(-a^2 / 2) numerator(a) / (raised_exponent::lowered denominator(a)). All are positive, so that no digits cancel.
/// tests/reference/fit_normal_tail.py prints them.
template <floating_element T> struct normal_constants;

template <> struct normal_constants<float> {
  static constexpr float limit = 14.43f;  // exp(-limit^2 / 2) and Phi(-limit) round to 0
  static constexpr int low_bits = 12;     // without these bits, a number's square is exact
  static constexpr int erf_terms = 7;     // (1/2)^14 / (7! 15) < 2^-29
  static constexpr float numerator[] = {1.40901514e-6f, 1.24232401e-6f, 5.2183251e-7f, 1.16388325e-7f, 1.18895259e-8f};
  static constexpr float denominator[] = {94.557405f, 158.816898f, 114.457873f, 44.8774789f, 9.78979755f, 1};
};

template <> struct normal_constants<double> {
  static constexpr double limit = 38.61;
  static constexpr int low_bits = 27;
  static constexpr int erf_terms = 13;  // (1/2)^26 / (13! 27) < 2^-57
  static constexpr double numerator[] = {2.3868343334975256e-11, 3.9635716559751353e-11, 3.2620551580179764e-11,
                                         1.7197009691474761e-11, 6.3718697963849441e-12, 1.7261082391188198e-12,
                                         3.4578238653191885e-13, 5.0647552947851991e-14, 5.2116601502596791e-15,
                                         3.4267962637238336e-16, 1.1072872629955403e-17};
  static constexpr double denominator[] = {1719895.39438953,   4228332.3546443022, 4864331.8695770131,
                                           3463610.2568426707, 1700123.5977724373, 605745.20201409646,
                                           160398.34441169402, 31696.553596939183, 4604.9687629947892,
                                           471.66920431385496, 30.947671649890388, 1};
};

/// A polynomial of a in two parts, which round less often than one.
template <const auto& Coefficients, class T> [[gnu::always_inline]] DEVPLACE_HD constexpr T normal_series(T a) {
  const T square = a * a;
  return polynomial_of<Coefficients, 0, 2>(square) + a * polynomial_of<Coefficients, 1, 2>(square);
}

/// erf(x) sqrt(pi) / (2 x) = sum of (-x^2)^n / (n! (2 n + 1)) from term `N`, times (-1)^N n! / x^2N.
template <int N, class T> [[gnu::always_inline]] DEVPLACE_HD constexpr T erf_series(T square) {
  constexpr T term = inverse_factorial<T, N> / static_cast<T>(N % 2 == 0 ? 2 * N + 1 : -(2 * N + 1));
  if constexpr (N == normal_constants<T>::erf_terms)
    return term;
  else
    return erf_series<N + 1>(square) * square + term;
}

/// The tail of the standard normal distribution: exp(-a^2 / 2) within 3 ulp, and Phi(-a) within 9 ulp, for 0 <= a <=
/// limit; at the limit, both are 0. Computes exp(-(high^2 - rest) / 2), because exp would magnify the rounding error
/// of a^2 by a^2 / 2; `high` has so few bits that its square is exact.
template <class T> struct normal_tail {
  T density;      ///< exp(-a^2 / 2)
  T probability;  ///< Phi(-a)

  [[gnu::always_inline]] DEVPLACE_HD inline explicit normal_tail(T a) {
    using bits = typename exponential_constants<T>::bits;
    const T high = same_bits<T>(same_bits<bits>(a) & -(bits{1} << normal_constants<T>::low_bits));
    const T rest = DEVPLACE_AS_WRITTEN(high - a) * DEVPLACE_AS_WRITTEN(high + a);
    const exponential_quotient<T, -2> e(DEVPLACE_AS_WRITTEN(high * high), rest);
    density = e.numerator() / e.denominator;
    probability = e.raised * normal_series<normal_constants<T>::numerator>(a) /
                  (e.denominator * normal_series<normal_constants<T>::denominator>(a));
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
DEVPLACE_UNFUSED_END
