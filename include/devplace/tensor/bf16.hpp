// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/round_to_16_bits.hpp>

namespace devplace {

/// A 16-bit storage type: float's sign, its 8 bits of exponent and the first 7 bits of its mantissa. Converts
/// implicitly and exactly to float, the type of all arithmetic. The conversion from float and double is explicit and
/// rounds once, to nearest, ties to even. Keeps infinities and subnormal numbers; a NaN becomes a quiet NaN with the
/// same sign.
class bf16 {
 public:
  /// Uninitialised, like a float.
  bf16() = default;
  /// Rounds to the nearest number.
  ///@{
  DEVPLACE_HD explicit constexpr bf16(float value) : bits_(rounded(value)) {}
  DEVPLACE_HD explicit constexpr bf16(double value)
      : bits_(detail::round_to_16_bits<8, 7>(__builtin_bit_cast(std::uint64_t, value))) {}
  template <std::integral Integer>
  DEVPLACE_HD explicit constexpr bf16(Integer value) : bf16(detail::to_rounded_once(value)) {}
  ///@}

  /// Converts exactly.
  DEVPLACE_HD constexpr operator float() const {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits_) << 16);
  }

  /// The bits in memory.
  ///@{
  DEVPLACE_HD constexpr std::uint16_t bits() const { return bits_; }
  DEVPLACE_HD static constexpr bf16 from_bits(std::uint16_t bits) { return __builtin_bit_cast(bf16, bits); }
  ///@}

 private:
  DEVPLACE_HD static constexpr std::uint16_t rounded(float value) {
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
    // Finds NaNs by their bits, because -ffast-math removes comparisons. AVX2 compares signed integers alone.
    const bool is_nan = static_cast<std::int32_t>(bits & 0x7fffffff) > 0x7f800000;
    const std::uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    return static_cast<std::uint16_t>(detail::chosen_bits(is_nan, bits | 0x400000, rounded) >> 16);
  }

  std::uint16_t bits_;
};

}  // namespace devplace

/// \cond
template <>
struct std::numeric_limits<devplace::bf16> : devplace::detail::half_precision_limits<devplace::bf16, 8, 7> {};
/// \endcond
