// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>

#include <devplace/config.hpp>

namespace devplace {

/// A 16-bit storage type: float's sign, its 8 bits of exponent and the first 7 bits of its mantissa. Arithmetic is done
/// in float, to which it converts implicitly and exactly. The conversion from float and double is explicit and rounds
/// once, to nearest, ties to even; infinities and subnormal numbers are kept, and a NaN becomes a quiet NaN with the
/// same sign.
class bf16 {
 public:
  /// Uninitialised, like a float.
  bf16() = default;
  /// The nearest number.
  ///@{
  DEVPLACE_HD explicit constexpr bf16(float value) : bits_(rounded(value)) {}
  DEVPLACE_HD explicit constexpr bf16(double value) : bits_(rounded(to_odd(value))) {}
  template <std::integral Integer>
    requires(sizeof(Integer) <= sizeof(std::int32_t))
  DEVPLACE_HD explicit constexpr bf16(Integer value) : bf16(static_cast<double>(value)) {}
  ///@}

  /// The same number.
  DEVPLACE_HD constexpr operator float() const {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits_) << 16);
  }

  /// The bits in memory.
  ///@{
  DEVPLACE_HD constexpr std::uint16_t bits() const { return bits_; }
  DEVPLACE_HD static constexpr bf16 from_bits(std::uint16_t bits) {
    bf16 result{0.0f};
    result.bits_ = bits;
    return result;
  }
  ///@}

 private:
  DEVPLACE_HD static constexpr std::uint16_t rounded(float value) {
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
    if (value != value) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }

  /// A float that rounds to the same bf16 as the double: if inexact, the neighbour whose last bit is 1 (round to odd),
  /// so that no tie arises.
  DEVPLACE_HD static constexpr float to_odd(double value) {
    const float nearest = static_cast<float>(value);
    const double back = nearest;
    if (back == value || value != value) return nearest;
    std::uint32_t bits = __builtin_bit_cast(std::uint32_t, nearest);
    const bool away_from_zero = value < 0 ? back < value : back > value;
    if (away_from_zero) --bits;
    return __builtin_bit_cast(float, bits | 1);
  }

  std::uint16_t bits_;
};

}  // namespace devplace
