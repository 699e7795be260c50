// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include <devplace/config.hpp>

namespace devplace::detail {

/// The members of std::numeric_limits for T with `Exponent` bits of exponent and `Mantissa` of mantissa. Inherits the
/// members that equal float's, such as is_signed.
template <class T, int Exponent, int Mantissa> struct half_precision_limits : std::numeric_limits<float> {
 private:
  static constexpr int bias = (1 << (Exponent - 1)) - 1;
  static constexpr std::uint16_t unit = 1 << Mantissa, infinite = ((1 << Exponent) - 1) << Mantissa;
  DEVPLACE_HD static constexpr T from_bits(int bits) noexcept { return T::from_bits(static_cast<std::uint16_t>(bits)); }

 public:
  static constexpr int digits = Mantissa + 1, digits10 = Mantissa * 30103 / 100000,
                       max_digits10 = 2 + digits * 30103 / 100000;
  static constexpr int max_exponent = bias + 1, min_exponent = 2 - bias;
  static constexpr int max_exponent10 = bias * 30103 / 100000, min_exponent10 = -((bias - 1) * 30103 / 100000);
  DEVPLACE_HD static constexpr T min() noexcept { return from_bits(unit); }
  DEVPLACE_HD static constexpr T max() noexcept { return from_bits(infinite - 1); }
  DEVPLACE_HD static constexpr T lowest() noexcept { return from_bits(0x8000 | (infinite - 1)); }
  DEVPLACE_HD static constexpr T epsilon() noexcept { return from_bits((bias - Mantissa) << Mantissa); }
  DEVPLACE_HD static constexpr T round_error() noexcept { return T(0.5f); }
  DEVPLACE_HD static constexpr T infinity() noexcept { return from_bits(infinite); }
  DEVPLACE_HD static constexpr T quiet_NaN() noexcept { return from_bits(infinite | unit >> 1); }
  DEVPLACE_HD static constexpr T signaling_NaN() noexcept { return from_bits(infinite | unit >> 2); }
  DEVPLACE_HD static constexpr T denorm_min() noexcept { return from_bits(1); }
};

/// Rounds the float or double with these bits to a 16-bit number with `ToExponent` bits of exponent and `ToMantissa` of
/// mantissa: to nearest, ties to even. Numbers that are too large become infinity; a NaN becomes a quiet NaN with the
/// same sign and the upper bits of its payload. Computes with integers only, so that it is constexpr and rounds once,
/// and neither -ffast-math nor flushing subnormal numbers to zero changes the result.
template <int ToExponent, int ToMantissa, std::unsigned_integral Bits>
DEVPLACE_HD constexpr std::uint16_t round_to_16_bits(Bits bits) {
  constexpr int width = 8 * sizeof(Bits), mantissa = width == 32 ? 23 : 52, exponent = width - 1 - mantissa;
  constexpr int dropped = mantissa - ToMantissa;
  constexpr int rebias = (1 << (exponent - 1)) - (1 << (ToExponent - 1));
  constexpr int special = (1 << ToExponent) - 1;  // the exponent of infinities and NaNs
  constexpr Bits hidden = Bits{1} << mantissa, infinity = (~Bits{0} >> 1) - (hidden - 1);
  const auto sign = static_cast<std::uint32_t>(bits >> (width - 1)) << 15;
  const Bits magnitude = bits & (~Bits{0} >> 1);
  std::uint32_t result = special << ToMantissa;
  if (magnitude > infinity) {
    result |= 1u << (ToMantissa - 1) | (static_cast<std::uint32_t>(magnitude >> dropped) & ((1u << ToMantissa) - 1));
  } else {
    const int from = static_cast<int>(magnitude >> mantissa);
    const Bits significand = from == 0 ? magnitude : (magnitude & (hidden - 1)) | hidden;
    const int to = (from == 0 ? 1 : from) - rebias;
    if (to < special) {
      // Subnormal results lose more bits; a result that loses mantissa + 2 bits is 0.
      const int lost = to >= 1 ? dropped : dropped + 1 - to;
      const int shift = lost > mantissa + 2 ? mantissa + 2 : lost;
      const Bits even = significand >> shift & 1;
      const Bits rounded = (significand + (Bits{1} << (shift - 1)) - 1 + even) >> shift;
      // The hidden bit of a normal number adds 1 to the exponent; so does a carry of the rounding.
      result = static_cast<std::uint32_t>(rounded) + (to > 1 ? static_cast<std::uint32_t>(to - 1) << ToMantissa : 0u);
    }
  }
  return static_cast<std::uint16_t>(sign | result);
}

/// Converts an integer to a double that rounds to the same 16-bit number as the integer. Exact below 2^53. For larger
/// integers, sets the last of the leading 53 bits if any bit is dropped, so that no tie arises.
template <std::integral Integer> DEVPLACE_HD constexpr double to_rounded_once(Integer value) {
  if constexpr (sizeof(Integer) <= sizeof(std::int32_t)) {
    return static_cast<double>(value);
  } else {
    const bool negative = value < 0;
    auto magnitude = static_cast<std::uint64_t>(value);
    if (negative) magnitude = 0 - magnitude;
    constexpr std::uint64_t low = (1 << 11) - 1;
    if (magnitude >> 53 != 0) magnitude = (magnitude & ~low) | ((magnitude & low) != 0 ? low + 1 : 0);
    const auto result = static_cast<double>(magnitude);
    return negative ? -result : result;
  }
}

}  // namespace devplace::detail
