// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/exponential.hpp>

DEVPLACE_UNFUSED_BEGIN
namespace devplace::detail {

/// Terms `K` to `Last` of artanh(s) / s = 1 + s^2 / 3 + s^4 / 5 + ..., divided by s^2K.
template <int K, int Last, class T> [[gnu::always_inline]] DEVPLACE_HD constexpr T artanh_series(T square) {
  constexpr T term = T{1} / static_cast<T>(2 * K + 1);
  if constexpr (K == Last)
    return term;
  else
    return artanh_series<K + 1, Last>(square) * square + term;
}

/// log(1 + u) within 3 ulp for 0 <= u <= 1: 2 artanh(s) with s = u / (2 + u) <= 1/3.
template <class T> [[gnu::always_inline]] DEVPLACE_HD inline T log_of_one_plus(T u) {
  constexpr int last = sizeof(T) == 4 ? 7 : 16;  // (1/3)^(2 last + 2) / (2 last + 3) < 2^-28 or 2^-58
  const T s = u / (T{2} + u);
  return 2 * s * artanh_series<0, last>(s * s);
}

/// log(x) within 1 ulp, also of subnormal numbers; -infinity for 0 and -0, NaN for negative numbers and NaN. x = 2^k m
/// with m from sqrt(1/2) to sqrt(2). With f = m - 1, s = f / (2 + f) and r = 2 artanh(s) / s - 2, log m = f - (f^2 / 2
/// - s (f^2 / 2 + r)). In this arrangement, from FreeBSD's e_log.c, all terms except f are small. Without branches and
/// calls, like exponential.hpp.
template <floating_element T> [[gnu::always_inline]] DEVPLACE_HD inline T fast_log(T x) {
  using constants = exponential_constants<T>;
  using bits = typename constants::bits;
  using unsigned_bits = std::make_unsigned_t<bits>;
  constexpr int mantissa = constants::mantissa_bits, sign = 8 * sizeof(T) - 1;
  constexpr int last = sizeof(T) == 4 ? 4 : 10;  // 0.172^(2 last + 2) / (2 last + 3) < 2^-28 or 2^-60
  constexpr unsigned_bits one = unsigned_bits{constants::bias} << mantissa;
  constexpr unsigned_bits least_normal = unsigned_bits{1} << mantissa, infinite = infinity_bits<T>;
  const auto x_bits = same_bits<unsigned_bits>(x);
  const auto mask_of_sign = [](unsigned_bits value) {
    return static_cast<unsigned_bits>(static_cast<bits>(value) >> sign);
  };

  // Scales subnormal numbers by 2^(mantissa + 2). Results for numbers that are not positive are replaced below.
  const unsigned_bits power = mask_of_sign(x_bits - least_normal) & (mantissa + 2);
  const T normal = x * same_bits<T>(static_cast<unsigned_bits>(one + (power << mantissa)));
  const auto root_half = same_bits<unsigned_bits>(static_cast<T>(0.70710678118654752440));
  const auto shifted = static_cast<unsigned_bits>(same_bits<unsigned_bits>(normal) + (one - root_half));
  const T f = same_bits<T>(static_cast<unsigned_bits>((shifted & (least_normal - 1)) + root_half)) - T{1};
  const auto exponent = static_cast<unsigned_bits>((shifted >> mantissa) - unsigned_bits{constants::bias} - power);
  // Replaces a conversion that AVX2 lacks for 64-bit integers.
  const auto rounder = same_bits<unsigned_bits>(constants::rounder);
  const T k = DEVPLACE_AS_WRITTEN(same_bits<T>(static_cast<unsigned_bits>(rounder + exponent)) - constants::rounder);

  const T s = f / (T{2} + f), square = s * s, half = f * f * T{0.5};
  const T r = 2 * (square * artanh_series<1, last>(square));
  const T low = s * (half + r) + k * constants::log2_low;
  const T result = k * constants::log2_high - (DEVPLACE_AS_WRITTEN(half - low) - f);

  // Selected by masks: for 0, for NaN and infinity, for negative numbers.
  const unsigned_bits is_zero = mask_of_sign((x_bits & (~unsigned_bits{0} >> 1)) - 1);
  const unsigned_bits is_negative = mask_of_sign(x_bits);
  const unsigned_bits is_special = mask_of_sign(infinite - 1 - x_bits) | is_zero | is_negative;
  const unsigned_bits nan = infinite | (infinite >> 1);
  const unsigned_bits special = ((x_bits & ~is_negative) | (nan & is_negative)) & ~is_zero;
  const unsigned_bits of_zero = (infinite | (unsigned_bits{1} << sign)) & is_zero;
  return same_bits<T>(
      static_cast<unsigned_bits>((same_bits<unsigned_bits>(result) & ~is_special) | (special & is_special) | of_zero));
}

}  // namespace devplace::detail
DEVPLACE_UNFUSED_END
