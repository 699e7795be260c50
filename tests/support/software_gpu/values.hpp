// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

// The numbers of PTX: integers, binary formats of 16 bits, pairs of these, and the rounding to narrower formats.

namespace devplace::test::software_gpu {

using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum class rounding : u8 { nearest, zero, down, up, away };

/// A binary format: `mantissa` bits after the leading one, and exponents of normal numbers from `lowest` to `highest`.
struct binary_format {
  int mantissa, lowest, highest;
};
inline constexpr binary_format half_format{10, -14, 15}, bfloat_format{7, -126, 127}, float_format{23, -126, 127},
    tf32_format{10, -126, 127};

/// Returns the bits of a double rounded to a format. NaN becomes the canonical one of PTX: all bits but the sign.
/// `rounding::away`: to nearest, ties away from zero.
inline u32 narrow(double x, const binary_format& to, rounding mode) {
  const u64 bits = std::bit_cast<u64>(x);
  const bool negative = bits >> 63 != 0;
  const u32 infinity = static_cast<u32>(to.highest - to.lowest + 2) << to.mantissa;
  const u32 sign = negative ? static_cast<u32>(1) << (std::bit_width(infinity)) : 0;
  if (std::isnan(x)) return infinity | ((1U << to.mantissa) - 1);
  if (std::isinf(x)) return sign | infinity;
  const int exponent = static_cast<int>(bits >> 52 & 2047) - 1023;
  if (exponent == -1023 && bits << 12 == 0) return sign;
  const u64 significand = (bits & ((u64{1} << 52) - 1)) | (exponent == -1023 ? 0 : u64{1} << 52);
  const int below = exponent < to.lowest ? to.lowest - exponent : 0;
  const int shift = 52 - to.mantissa + below < 62 ? 52 - to.mantissa + below : 62;
  const u64 rest = significand & ((u64{1} << shift) - 1), tie = u64{1} << (shift - 1);
  u64 kept = significand >> shift;
  if (mode == rounding::nearest) kept += rest > tie || (rest == tie && kept % 2 == 1) ? 1U : 0U;
  if (mode == rounding::away) kept += rest >= tie ? 1U : 0U;
  if (mode == (negative ? rounding::down : rounding::up)) kept += rest != 0 ? 1U : 0U;
  // A carry out of the significand increments the exponent.
  if (below == 0) kept += static_cast<u64>(exponent - to.lowest) << to.mantissa;
  if (kept < infinity) return sign | static_cast<u32>(kept);
  const bool to_infinity =
      mode == rounding::nearest || mode == rounding::away || mode == (negative ? rounding::down : rounding::up);
  return sign | (to_infinity ? infinity : infinity - 1);
}

/// A number of 16 bits in a register.
template <int Mantissa> struct small_float {
  static constexpr binary_format format = Mantissa == 10 ? half_format : bfloat_format;
  u16 bits;

  small_float() = default;
  explicit small_float(double x, rounding mode = rounding::nearest) : bits(static_cast<u16>(narrow(x, format, mode))) {}

  operator float() const {
    if constexpr (Mantissa == 7) return std::bit_cast<float>(static_cast<u32>(bits) << 16);
    const u32 sign = static_cast<u32>(bits & 0x8000) << 16, magnitude = bits & 0x7fffU;
    if (magnitude < 0x400) return std::copysign(static_cast<float>(magnitude) * 0x1p-24F, sign != 0 ? -1.0F : 1.0F);
    const u32 exponent = magnitude >= 0x7c00 ? 0x70000000U : 0x38000000U;
    return std::bit_cast<float>(sign | ((magnitude << 13) + exponent) | (magnitude > 0x7c00 ? 0x400000U : 0U));
  }
};
using half = small_float<10>;
using bfloat = small_float<7>;

/// Two numbers in a register of 32 bits; the first in its low half.
template <class T> struct pair {
  T low, high;
};

template <class T> inline constexpr bool is_small_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat>;
template <class T> inline constexpr bool is_pair = false;
template <class T> inline constexpr bool is_pair<pair<T>> = true;
template <class T> inline constexpr bool is_floating = std::is_floating_point_v<T> || is_small_float<T>;

/// Replaces a denormal float by zero of its sign, as .ftz does to operands and results.
inline float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

/// Limits to [0, 1], as .sat does to results; NaN becomes 0.
template <class T> T saturated(T x) {
  const auto value = static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(x);
  return value > 0 ? (value < 1 ? x : T(1)) : T(0);
}

}  // namespace devplace::test::software_gpu
