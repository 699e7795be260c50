// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/tensor/detail/half_bits.hpp>
#include <devplace/tensor/detail/half_precision_limits.hpp>
#include <devplace/tensor/detail/round_to_16_bits.hpp>

namespace devplace {

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
  DEVPLACE_HD static constexpr half from_bits(std::uint16_t bits) {
    half result{0.0f};
    result.bits_ = bits;
    return result;
  }
  ///@}

 private:
  std::uint16_t bits_;
};

}  // namespace devplace

/// \cond
template <>
struct std::numeric_limits<devplace::half> : devplace::detail::half_precision_limits<devplace::half, 5, 10> {};
/// \endcond
