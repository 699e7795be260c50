// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/ops/detail/exponential.hpp>

// Pairs of normal numbers from random bits (Box and Muller 1958): a radius times the cosine and sine of an angle.
//
// The arithmetic uses std::fma or has exact products, so contraction of products and sums by a compiler changes
// nothing. The bits are therefore the same with and without FMA instructions, on CPUs and GPUs.
namespace devplace::detail {

/// The leading 53 of 64 random bits as an exact number. Converts signed integers, because compilers vectorise their
/// conversion.
DEVPLACE_HD constexpr double leading_bits(std::uint32_t low, std::uint32_t high) {
  const double upper = static_cast<double>(static_cast<std::int32_t>(high ^ 0x8000'0000)) + 0x1p31;
  return upper * 0x1p21 + static_cast<double>(static_cast<std::int32_t>(low >> 11));
}

/// Converts random words to a uniformly distributed number. Uses as many leading bits as the significand has.
DEVPLACE_HD constexpr float unit_interval(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24F;
}
DEVPLACE_HD constexpr double unit_interval(std::uint32_t low, std::uint32_t high) {
  return leading_bits(low, high) * 0x1p-53;
}

/// Polynomial with the given coefficients, highest power first. Not a loop, so that loops around it are vectorised.
template <class T, std::size_t Count, std::size_t... K>
DEVPLACE_HD inline T polynomial(T x, const T (&coefficients)[Count], std::index_sequence<K...>) {
  T result = coefficients[0];
  ((result = std::fma(result, x, coefficients[K + 1])), ...);
  return result;
}
template <class T, std::size_t Count> DEVPLACE_HD inline T polynomial(T x, const T (&coefficients)[Count]) {
  return polynomial(x, coefficients, std::make_index_sequence<Count - 1>{});
}

/// Natural logarithm of a positive normal number, with an error of a few ulp.
DEVPLACE_HD inline double portable_log(double x) {
  // x = m 2^exponent with m in [sqrt(1/2), sqrt(2)), in integer arithmetic, which compilers vectorise
  constexpr std::uint64_t least = 0x3FE6'A09E'667F'3BCD, bias = std::uint64_t{1023} << 52;
  const std::uint64_t bits = same_bits<std::uint64_t>(x);
  const std::uint64_t biased = (bits + bias - least) >> 52;
  const double m = same_bits<double>(bits + bias - (biased << 52));
  constexpr double two_to_52 = 0x1p52;
  const double exponent = same_bits<double>(same_bits<std::uint64_t>(two_to_52) | biased) - (two_to_52 + 1023);
  // log m = 2 artanh(s) = 2 s (1 + s^2 / 3 + s^4 / 5 + ...), |s| < 0.172
  const double s = (m - 1) / (m + 1), square = s * s;
  constexpr double odd_reciprocals[] = {1. / 23, 1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13,
                                        1. / 11, 1. / 9,  1. / 7,  1. / 5,  1. / 3,  1.};
  return std::fma(exponent, 0.69314718055994531, 2 * s * polynomial(square, odd_reciprocals));
}

template <class T> struct cosine_and_sine {
  T cosine, sine;
};

/// Turns a direction by `quarters` of a turn: a quarter later, the cosine is -sine and the sine is the cosine.
template <class T> DEVPLACE_HD inline cosine_and_sine<T> turned(cosine_and_sine<T> direction, std::uint32_t quarters) {
  using bits = std::make_unsigned_t<typename exponential_constants<T>::bits>;
  constexpr int to_sign = 8 * sizeof(T) - 2;
  const bits turns = quarters, cosine = same_bits<bits>(direction.cosine), sine = same_bits<bits>(direction.sine);
  const bits exchanged = (cosine ^ sine) & (0 - (turns & 1));
  const bits cosine_sign = ((turns + 1) & 2) << to_sign, sine_sign = (turns & 2) << to_sign;
  return {same_bits<T>((cosine ^ exchanged) ^ cosine_sign), same_bits<T>((sine ^ exchanged) ^ sine_sign)};
}

/// Cosine and sine of an angle in turns, in [0, 1).
DEVPLACE_HD inline cosine_and_sine<double> portable_cosine_and_sine(double turns) {
  const int quarter = static_cast<int>(std::fma(turns, 4., 0.5));
  const double x = (turns - quarter * 0.25) * 6.28318530717958648, square = x * x;  // |x| <= pi / 4, exact difference
  constexpr double of_sine[] = {-1. / 1307674368000, 1. / 6227020800, -1. / 39916800, 1. / 362880,
                                -1. / 5040,          1. / 120,        -1. / 6,        1.};
  constexpr double of_cosine[] = {1. / 20922789888000,
                                  -1. / 87178291200,
                                  1. / 479001600,
                                  -1. / 3628800,
                                  1. / 40320,
                                  -1. / 720,
                                  1. / 24,
                                  -1. / 2,
                                  1.};
  return turned<double>({polynomial(square, of_cosine), x * polynomial(square, of_sine)},
                        static_cast<std::uint32_t>(quarter));
}

/// Cosine and sine of the angle (word + 1/2) / 2^32 turns.
DEVPLACE_HD inline cosine_and_sine<float> portable_direction(std::uint32_t word) {
  const std::uint32_t quarter = (word + 0x2000'0000) >> 30;
  const auto from_quarter = static_cast<std::int32_t>(word - (quarter << 30));
  const float x = (static_cast<float>(from_quarter) + 0.5F) * 1.46291807927e-9F, square = x * x;  // |x| <= pi / 4
  constexpr float of_sine[] = {1.F / 362880, -1.F / 5040, 1.F / 120, -1.F / 6, 1.F};
  constexpr float of_cosine[] = {-1.F / 3628800, 1.F / 40320, -1.F / 720, 1.F / 24, -1.F / 2, 1.F};
  return turned<float>({polynomial(square, of_cosine), x * polynomial(square, of_sine)}, quarter);
}

/// The square of the radius of a pair of standard normal numbers, from the first two words of the pair's block.
DEVPLACE_HD inline double squared_radius(std::uint32_t low, std::uint32_t high) {
  return -2 * portable_log((leading_bits(low, high) + 0.5) * 0x1p-53);  // the argument of the logarithm is in (0, 1]
}

/// The square of the radius, -2 log u, for u = (word + 1/2) / 2^32, within 3 ulp. Numbers above 1/2 are taken by their
/// distance from 1, so that small radii are as precise as large ones.
DEVPLACE_HD inline float squared_radius(std::uint32_t word) {
  constexpr std::uint32_t root_half = 0x3F35'04F3, one = 0x3F80'0000, fraction = 0x007F'FFFF;
  const std::uint32_t is_high = 0 - (word >> 31);
  const float distance = (static_cast<float>(static_cast<std::int32_t>(word ^ is_high)) + 0.5F) * 0x1p-32F;
  const auto select = [](std::uint32_t mask, float a, float b) {
    return same_bits<float>((same_bits<std::uint32_t>(a) & mask) | (same_bits<std::uint32_t>(b) & ~mask));
  };
  // u = 2^exponent (1 + f) with 1 + f in [sqrt(1/2), sqrt(2))
  const std::uint32_t shifted = same_bits<std::uint32_t>(select(is_high, 1 - distance, distance)) + (one - root_half);
  const auto exponent = static_cast<std::int32_t>(shifted >> 23) - 127;
  const float of_mantissa = same_bits<float>((shifted & fraction) + root_half) - 1;
  const float f = select(~static_cast<std::uint32_t>(exponent >> 31), -distance, of_mantissa), square = f * f;
  // log(1 + f) = f - f^2 / 2 + f^3 p(f), p from Cephes' logf (Moshier 1989)
  constexpr float of_log[] = {7.0376836292e-2F,  -1.1514610310e-1F, 1.1676998740e-1F,
                              -1.2420140846e-1F, 1.4249322787e-1F,  -1.6668057665e-1F,
                              2.0000714765e-1F,  -2.4999993993e-1F, 3.3333331174e-1F};
  const auto power = static_cast<float>(exponent);
  const float rest = std::fma(power, -2.12194440e-4F, f * square * polynomial(f, of_log));
  return -2 * std::fma(power, 0.693359375F, f + std::fma(square, -0.5F, rest));
}

}  // namespace devplace::detail
