// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

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

}  // namespace devplace::detail
