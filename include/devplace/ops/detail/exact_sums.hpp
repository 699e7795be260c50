// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/ops/detail/limits.hpp>

// Sums whose bits depend neither on the order of the summands nor on their division among places. Summands are rounded
// to multiples of a unit, a power of two that depends on the largest summand. Sums of integers are exact. Finding the
// largest summand costs an additional reduction. Compare Demmel and Nguyen, "Parallel reproducible summation", 2015,
// who need one pass and several accumulators.

namespace devplace::detail {

/// Maps numbers to integers of the same order, NaN to the largest, so that reductions of integers find the largest
/// number.
///@{
DEVPLACE_HD inline std::int64_t order_key(double x) {
  constexpr std::int64_t highest = highest_number<std::int64_t>;
  if (x != x) return highest;
  const auto bits = __builtin_bit_cast(std::int64_t, x);
  return bits < 0 ? bits ^ highest : bits;
}
DEVPLACE_HD inline double number_of_key(std::int64_t key) {
  constexpr std::int64_t highest = highest_number<std::int64_t>;
  return __builtin_bit_cast(double, key < 0 ? key ^ highest : key);
}
///@}

/// Factor that converts normalised summands to 51-bit integers; the sum of `count` such integers fits into 64 bits.
constexpr double exact_unit(std::size_t count) {
  const int bits = 61 - static_cast<int>(std::bit_width(count));
  return static_cast<double>(std::uint64_t{1} << (bits < 50 ? bits : 50));
}

/// A power of two near the largest absolute value of all summands, and its inverse.
class exact_scale {
 public:
  /// `largest` is the largest absolute value; if it is infinite or NaN, summand() returns 0, and scaled() NaN.
  DEVPLACE_HD explicit exact_scale(double largest) : mask_(largest - largest == 0 ? -1 : 0) {
    int exponent = 0;
    if (mask_ != 0) std::frexp(largest, &exponent);
    if (exponent < -1000) exponent = -1000;  // so that the inverse is finite
    if (exponent > 1023) exponent = 1023;
    scale_ = mask_ != 0 ? std::ldexp(1.0, exponent) : largest - largest;
    inverse_ = std::ldexp(1.0, -exponent);
  }
  /// Divides by the power of two. The result is below 2 in absolute value, and at most 1 unless x is near the largest
  /// finite number.
  DEVPLACE_HD double normalized(double x) const { return x * inverse_; }
  /// The inverse of normalized().
  DEVPLACE_HD double scaled(double x) const { return x * scale_; }
  /// Converts a normalised number to an integer; `unit` is exact_unit().
  DEVPLACE_HD std::int64_t summand(double x, double unit) const {
    // The low bits of the sum are the integer: before AVX-512, vectors have no conversion to 64-bit integers.
    constexpr double shift = 0x1.8p52;
    const auto bits = __builtin_bit_cast(std::int64_t, x* unit + shift);
    return (bits - __builtin_bit_cast(std::int64_t, shift)) & mask_;
  }

 private:
  double scale_, inverse_;
  std::int64_t mask_;
};

}  // namespace devplace::detail
