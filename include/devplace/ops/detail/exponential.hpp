// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/limits.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// Constants of the exponential function for a floating-point format.
template <floating_element T>
struct exponential_constants;

template <>
struct exponential_constants<float> {
  using bits = std::int32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr bits bias = 127;
  static constexpr int degree = 7;                    // (log 2 / 2)^8 / 8! < 2^-27
  static constexpr float rounder = 12582912.0f;       // 1.5 * 2^23: adding it rounds to an integer, in the low bits
  static constexpr float limit = 104.0f;              // exp is 0 below -limit, infinite above limit
  static constexpr float log2_high = 0.693359375f;    // log 2 in two parts; the first has few bits, so that its
  static constexpr float log2_low = -2.12194440e-4f;  // products with exponents are exact
};

template <>
struct exponential_constants<double> {
  using bits = std::int64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr bits bias = 1023;
  static constexpr int degree = 13;  // (log 2 / 2)^14 / 14! < 2^-57
  static constexpr double rounder = 6755399441055744.0;
  static constexpr double limit = 746.0;
  static constexpr double log2_high = 0.693145751953125;
  static constexpr double log2_low = 1.42860682030941723212e-6;
};

/// 1/k! for the polynomial.
template <class T, int K>
inline constexpr T inverse_factorial = inverse_factorial<T, K - 1> / static_cast<T>(K);
template <class T>
inline constexpr T inverse_factorial<T, 0> = T{1};

/// Horner's scheme for exp(r) = sum of r^k / k! up to `Last`, starting at term `K`, divided by r^K.
template <int K, int Last, class T>
DEVPLACE_HD constexpr T exponential_series(T r) {
  if constexpr (K == Last)
    return inverse_factorial<T, K>;
  else
    return exponential_series<K + 1, Last>(r) * r + inverse_factorial<T, K>;
}

/// Clamps x to -limit..limit; NaN stays. Compares as integers, because floating-point comparisons can trap, which keeps
/// g++ from vectorising.
template <class T>
DEVPLACE_HD inline T limited_exponent(T x) {
  using bits = typename exponential_constants<T>::bits;
  constexpr bits sign_bit = lowest_number<bits>;
  constexpr bits infinity_bits = (2 * exponential_constants<T>::bias + 1) << exponential_constants<T>::mantissa_bits;
  const bits limit_bits = same_bits<bits>(exponential_constants<T>::limit);
  const bits x_bits = same_bits<bits>(x);
  const bits size = x_bits & ~sign_bit;
  const bool outside = (size > limit_bits) & (size <= infinity_bits);
  return same_bits<T>((outside ? limit_bits : size) | (x_bits & sign_bit));
}

/// 2^k, given `biased` = k + bias.
template <class T, class Bits>
DEVPLACE_HD inline T power_of_two(Bits biased) {
  return same_bits<T>(
      static_cast<typename exponential_constants<T>::bits>(biased << exponential_constants<T>::mantissa_bits));
}

/// exp(x) without branches and calls, so that loops over it are vectorised; within 2 ulp, exactly 0 and infinity beyond
/// the limits, NaN for NaN. The same arithmetic on every backend. exp(x) = 2^k exp(r) with k = round(x / log 2), |r| <=
/// log 2 / 2, exp(r) by its Taylor series. The same under -ffast-math, but then not vectorised.
template <floating_element T>
DEVPLACE_HD inline T fast_exp(T x) {
  using constants = exponential_constants<T>;
  using unsigned_bits = std::make_unsigned_t<typename constants::bits>;
  x = limited_exponent(x);
  const T shifted = DEVPLACE_AS_WRITTEN(x * static_cast<T>(1.44269504088896340736) + constants::rounder);
  const T k = DEVPLACE_AS_WRITTEN(shifted - constants::rounder);
  const T r = DEVPLACE_AS_WRITTEN(x - k * constants::log2_high) - k * constants::log2_low;
  const T series = exponential_series<0, constants::degree>(r);
  // 2^k may be outside the normal range although the result is not, so it is applied as two factors. For NaN these are
  // arbitrary: unsigned arithmetic may overflow.
  const auto doubled = static_cast<unsigned_bits>(same_bits<unsigned_bits>(shifted) -
                                                  same_bits<unsigned_bits>(constants::rounder) + 2u * constants::bias);
  const auto half = static_cast<unsigned_bits>(doubled >> 1);
  return DEVPLACE_AS_WRITTEN(series * power_of_two<T>(half)) *
         power_of_two<T>(static_cast<unsigned_bits>(doubled - half));
}

}  // namespace devplace::detail
