// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/round_to_16_bits.hpp>

namespace devplace {

namespace detail {

// Conversions between float and the bits of half. On GPUs, a conversion is one instruction, and NaN loses sign and
// payload. On the CPU, it computes all cases without branches and selects one, so that loops are vectorised. No
// operation has a subnormal operand or result, so flushing subnormal numbers to zero changes nothing.

inline constexpr std::uint32_t half_rebias = (127u - 15u) << 23;                 // difference of the exponents' biases
inline constexpr std::uint32_t smallest_normal_half = half_rebias + (1u << 23);  // 2^-14, in float's bits

/// Returns the float with the value of these bits; a NaN becomes a quiet NaN with the same sign and payload.
DEVPLACE_HD constexpr float float_of_half(std::uint16_t bits) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
#endif
  const std::uint32_t magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
  const std::uint32_t normal = (magnitude << 13) + half_rebias;
  const std::uint32_t special = (normal + half_rebias) | chosen_bits(magnitude > 0x7c00, 0x400000u, 0u);
  // 2^-14 + magnitude * 2^-24 is exact below 2^-14.
  const float above = __builtin_bit_cast(float, smallest_normal_half | magnitude << 13);
  const float below = above - __builtin_bit_cast(float, smallest_normal_half);
  const std::uint32_t finite = chosen_bits(magnitude < 0x400, __builtin_bit_cast(std::uint32_t, below), normal);
  return __builtin_bit_cast(float, sign | chosen_bits(magnitude >= 0x7c00, special, finite));
}

/// Returns the bits of the half nearest to a float, ties to even. Numbers that are too large become infinity; a NaN
/// becomes a quiet NaN with the same sign and the upper bits of its payload.
DEVPLACE_HD constexpr std::uint16_t half_of_float(float value) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) {
    std::uint16_t result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
    return result;
  }
#endif
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
  const std::uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  const std::uint32_t rounded = (magnitude - half_rebias + 0xfff + (magnitude >> 13 & 1)) >> 13;
  const std::uint32_t normal = chosen_bits(rounded > 0x7c00, 0x7c00u, rounded);
  // Halves below 2^-14 are multiples of 2^-24, the last place of floats near 1/2, so adding 1/2 rounds to a half.
  const bool is_normal = magnitude >= smallest_normal_half;
  const float sum = __builtin_bit_cast(float, chosen_bits(is_normal, smallest_normal_half, magnitude)) + 0.5f;
  const std::uint32_t subnormal = __builtin_bit_cast(std::uint32_t, sum) - __builtin_bit_cast(std::uint32_t, 0.5f);
  const std::uint32_t number = chosen_bits(is_normal, normal, subnormal);
  return static_cast<std::uint16_t>(sign | chosen_bits(magnitude > 0x7f800000, nan, number));
}

}  // namespace detail

/// A 16-bit storage type, IEEE 754's binary16: 5 bits of exponent and 10 of mantissa, up to 65504 and down to 2^-24.
/// Converts implicitly and exactly to float, the type of all arithmetic. The conversion from other numbers is explicit
/// and rounds once, to nearest, ties to even. Numbers from 65520 on become infinity, numbers below 2^-14 become
/// subnormal. A NaN becomes a quiet NaN; on the host it keeps its sign.
class half {
 public:
  /// Uninitialised, like a float.
  half() = default;
  /// Rounds to the nearest number.
  ///@{
  DEVPLACE_HD explicit constexpr half(float value) : bits_(detail::half_of_float(value)) {}
  DEVPLACE_HD explicit constexpr half(double value)
      : bits_(detail::round_to_16_bits<5, 10>(__builtin_bit_cast(std::uint64_t, value))) {}
  template <std::integral Integer>
  DEVPLACE_HD explicit constexpr half(Integer value) : half(detail::to_rounded_once(value)) {}
  ///@}

  /// Converts exactly.
  DEVPLACE_HD constexpr operator float() const { return detail::float_of_half(bits_); }

  /// The bits in memory.
  ///@{
  DEVPLACE_HD constexpr std::uint16_t bits() const { return bits_; }
  DEVPLACE_HD static constexpr half from_bits(std::uint16_t bits) { return __builtin_bit_cast(half, bits); }
  ///@}

 private:
  std::uint16_t bits_;
};

}  // namespace devplace

/// \cond
template <>
struct std::numeric_limits<devplace::half> : devplace::detail::half_precision_limits<devplace::half, 5, 10> {};
/// \endcond
