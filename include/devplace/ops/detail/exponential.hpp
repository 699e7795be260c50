// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/dtype.hpp>

DEVPLACE_UNFUSED_BEGIN
namespace devplace::detail {

/// Constants of the exponential function for a floating-point format.
template <floating_element T> struct exponential_constants;

template <> struct exponential_constants<float> {
  using bits = std::int32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr bits bias = 127;
  static constexpr int degree = 7;                    // (log 2 / 2)^8 / 8! < 2^-27
  static constexpr float rounder = 12582912.0f;       // 1.5 * 2^23: adding it rounds to an integer, in the low bits
  static constexpr float limit = 104.0f;              // exp is 0 below -limit, infinite above limit
  static constexpr float tanh_limit = 10.0f;          // tanh rounds to 1 above it
  static constexpr float log2_high = 0.693359375f;    // log 2 in two parts; the first has few bits, so that its
  static constexpr float log2_low = -2.12194440e-4f;  // products with exponents are exact
};

template <> struct exponential_constants<double> {
  using bits = std::int64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr bits bias = 1023;
  static constexpr int degree = 13;  // (log 2 / 2)^14 / 14! < 2^-57
  static constexpr double rounder = 6755399441055744.0;
  static constexpr double limit = 746.0;
  static constexpr double tanh_limit = 20.0;
  static constexpr double log2_high = 0.693145751953125;
  static constexpr double log2_low = 1.42860682030941723212e-6;
};

template <class T, int K> inline constexpr T inverse_factorial = inverse_factorial<T, K - 1> / static_cast<T>(K);
template <class T> inline constexpr T inverse_factorial<T, 0> = T{1};

/// Horner's scheme for exp(r) = sum of r^k / k! up to k = `Last`, starting at k = `K`, divided by r^K.
template <int K, int Last, class T> [[gnu::always_inline]] DEVPLACE_HD constexpr T exponential_series(T r) {
  if constexpr (K == Last)
    return inverse_factorial<T, K>;
  else
    return exponential_series<K + 1, Last>(r) * r + inverse_factorial<T, K>;
}

/// Horner's scheme for a polynomial of x^Step with the coefficients from number `K` on at distances of `Step`.
template <const auto& Coefficients, std::size_t K = 0, std::size_t Step = 1, class T>
[[gnu::always_inline]] DEVPLACE_HD constexpr T polynomial_of(T power) {
  constexpr T coefficient = Coefficients[K];
  if constexpr (K + Step >= sizeof(Coefficients) / sizeof(T))
    return coefficient;
  else
    return polynomial_of<Coefficients, K + Step, Step>(power) * power + coefficient;
}

/// Coefficients of Pade's approximant exp(r / D) = (even + odd) / (even - odd), where even and odd are the sums of even
/// and odd powers of r. For |r / D| = log 2 / 2, its error is below 2^-27 or 2^-57.
template <class T, int D> struct pade;
template <int D> struct pade<float, D> {
  static constexpr float coefficients[] = {120.0f * D * D * D, 60.0f * D * D, 12.0f * D, 1};
};
template <int D> struct pade<double, D> {
  static constexpr double cube = D * D * D;
  static constexpr double coefficients[] = {
      665280 * cube * cube, 332640 * cube * D * D, 75600 * cube * D, 10080 * cube, 840 * D * D, 42 * D, 1};
};

/// Clamps x to -limit..limit; NaN stays. Uses masks of integers: g++ does not vectorise floating-point comparisons,
/// which can trap, and turns a condition into a branch.
template <class T> [[gnu::always_inline]] DEVPLACE_HD inline T limited_to(T limit, T x) {
  using bits = typename exponential_constants<T>::bits;
  constexpr bits sign_bit = lowest_number<bits>;
  constexpr bits infinity = (2 * exponential_constants<T>::bias + 1) << exponential_constants<T>::mantissa_bits;
  const bits size = same_bits<bits>(x) & ~sign_bit;
  const bits outside = ((same_bits<bits>(limit) - size) & (size - infinity - 1)) >> (8 * sizeof(T) - 1);
  return same_bits<T>(same_bits<bits>(x) ^ ((size ^ same_bits<bits>(limit)) & outside));
}

/// The smaller of two non-negative numbers, compared as integers; `limit` if x is NaN.
template <class T> [[gnu::always_inline]] DEVPLACE_HD inline T at_most(T limit, T x) {
  using bits = typename exponential_constants<T>::bits;
  const bits a = same_bits<bits>(limit), b = same_bits<bits>(x);
  return same_bits<T>(b < a ? b : a);
}

/// 2^k, given `biased` = k + bias.
template <class T, class Bits> [[gnu::always_inline]] DEVPLACE_HD inline T power_of_two(Bits biased) {
  return same_bits<T>(
      static_cast<typename exponential_constants<T>::bits>(biased << exponential_constants<T>::mantissa_bits));
}

/// x = k log 2 + r with an integer k and |r| <= log 2 / 2.
template <class T> struct exponent_parts {
  using constants = exponential_constants<T>;
  using unsigned_bits = std::make_unsigned_t<typename constants::bits>;

  T r;
  unsigned_bits scale;  ///< k modulo 2^32 or 2^64; unsigned, because it is arbitrary for NaN and may overflow

  [[gnu::always_inline]] DEVPLACE_HD inline explicit exponent_parts(T x) {
    const T shifted = DEVPLACE_AS_WRITTEN(x * static_cast<T>(1.44269504088896340736) + constants::rounder);
    const T whole = DEVPLACE_AS_WRITTEN(shifted - constants::rounder);
    r = DEVPLACE_AS_WRITTEN(x - whole * constants::log2_high) - whole * constants::log2_low;
    scale =
        static_cast<unsigned_bits>(same_bits<unsigned_bits>(shifted) - same_bits<unsigned_bits>(constants::rounder));
  }
  /// 2^k series. 2^k may be outside the normal range although the result is inside, so it is applied as two factors.
  [[gnu::always_inline]] DEVPLACE_HD static inline T scaled(T series, unsigned_bits k) {
    const auto doubled = static_cast<unsigned_bits>(k + 2u * constants::bias);
    const auto half = static_cast<unsigned_bits>(doubled >> 1);
    return DEVPLACE_AS_WRITTEN(series * power_of_two<T>(half)) *
           power_of_two<T>(static_cast<unsigned_bits>(doubled - half));
  }
};

// Functions without branches and calls, so that compilers vectorise loops over them. The arithmetic is the same on
// every backend, and under -ffast-math, where loops are not vectorised.

/// exp(x) within 2 ulp, exactly 0 and infinity beyond the limits, NaN for NaN: 2^k exp(r), exp(r) by its Taylor series.
template <floating_element T> [[gnu::always_inline]] DEVPLACE_HD inline T fast_exp(T x) {
  using constants = exponential_constants<T>;
  const exponent_parts<T> parts(limited_to(constants::limit, x));
  return parts.scaled(exponential_series<0, constants::degree>(parts.r), parts.scale);
}

/// A number whose exp is 0.
template <floating_element T> inline constexpr T least_exponent = -exponential_constants<T>::limit;

/// x / Divisor = k log 2 + r / Divisor for least_exponent - 1/2 <= x / Divisor <= 64, with k raised so that 2^k is
/// never subnormal. The divisor is 1 or -2, which changes no rounding.
template <floating_element T, int Divisor = 1> struct raised_exponent {
  using constants = exponential_constants<T>;
  // `added` is even, so that halves round to the same integers as in fast_exp.
  static constexpr int raised = sizeof(T) == 4 ? 25 : 55, added = raised + static_cast<int>(constants::bias);
  static constexpr T lowered = T{1} / static_cast<T>(std::int64_t{1} << raised);
  T r;
  T scale;  ///< 2^k / lowered

  [[gnu::always_inline]] DEVPLACE_HD inline explicit raised_exponent(T x) {
    constexpr T rounder = constants::rounder + static_cast<T>(added);
    const T shifted = DEVPLACE_AS_WRITTEN(x * static_cast<T>(1.44269504088896340736 / Divisor) + rounder);
    const T whole = DEVPLACE_AS_WRITTEN(shifted - rounder);
    r = DEVPLACE_AS_WRITTEN(x - whole * (Divisor * constants::log2_high)) - whole * (Divisor * constants::log2_low);
    scale = power_of_two<T>(same_bits<std::make_unsigned_t<typename constants::bits>>(shifted));
  }
  /// 2^k series.
  [[gnu::always_inline]] DEVPLACE_HD static inline T scaled(T series, T factor) {
    return DEVPLACE_AS_WRITTEN(series * factor) * lowered;
  }
};

/// Returns the bits of fast_exp(x) for least_exponent - 1/2 <= x <= 64, and NaN for NaN, in fewer instructions.
template <floating_element T> [[gnu::always_inline]] DEVPLACE_HD inline T fast_exp_below_64(T x) {
  const raised_exponent<T> parts(x);
  return parts.scaled(exponential_series<0, exponential_constants<T>::degree>(parts.r), parts.scale);
}

/// Numbers whose exponentials are computed together.
template <class T> struct exponential_block {
  static constexpr std::size_t most = 256, tile = 64;
  DEVPLACE_ALIGNED_FOR_VECTORS T numbers[most];

  /// Replaces the first `count` numbers by their exponentials, and overwrites the others. `Parts` is exponent_parts or
  /// raised_exponent. Takes two thirds of the time of the same operations in one loop: a processor does not look ahead
  /// as far as the chain of operations for a vector is long, so the chains of several vectors must alternate.
  template <class Parts> [[gnu::always_inline]] DEVPLACE_HD inline void take_exponentials(std::size_t count) {
    DEVPLACE_ALIGNED_FOR_VECTORS T r[most];
    DEVPLACE_ALIGNED_FOR_VECTORS decltype(Parts::scale) scale[most];
    for (; count % tile != 0; ++count) numbers[count] = 0;
    for_tiles(count, [&](std::size_t i) __attribute__((always_inline)) {
      const Parts parts(numbers[i]);
      r[i] = parts.r;
      scale[i] = parts.scale;
    });
    add_terms<1>(r, count);
    for_tiles(count, [&](std::size_t i) __attribute__((always_inline)) {
      numbers[i] = Parts::scaled(numbers[i] * r[i] + 1, scale[i]);
    });
  }

 private:
  /// Computes exponential_series<K, degree>(r[i]) in one loop for every two terms.
  template <int K> [[gnu::always_inline]] DEVPLACE_HD inline void add_terms(const T* r, std::size_t count) {
    constexpr int degree = exponential_constants<T>::degree;
    if constexpr (K + 2 < degree) add_terms<K + 2>(r, count);
    for_tiles(count, [&](std::size_t i) __attribute__((always_inline)) {
      if constexpr (K + 2 < degree)
        numbers[i] = (numbers[i] * r[i] + inverse_factorial<T, K + 1>)*r[i] + inverse_factorial<T, K>;
      else
        numbers[i] = exponential_series<K, degree>(r[i]);
    });
  }

  [[gnu::always_inline]] DEVPLACE_HD static inline void for_tiles(std::size_t count, const auto& f) {
    for (std::size_t first = 0; first < count; first += tile)
      for (std::size_t i = 0; i < tile; ++i) f(first + i);
  }
};

/// exp((x - rest) / Divisor) = numerator() / denominator, for a further quotient: least_exponent - 1/2 <= x / Divisor
/// <= 64 and |rest / Divisor| <= 1/8.
template <floating_element T, int Divisor = 1> struct exponential_quotient {
  T raised;  ///< the numerator / raised_exponent<T>::lowered
  T denominator;

  [[gnu::always_inline]] DEVPLACE_HD inline explicit exponential_quotient(T x, T rest = T{0}) {
    const raised_exponent<T, Divisor> parts(x);
    const T r = DEVPLACE_AS_WRITTEN(parts.r - rest), square = r * r;
    const T even = DEVPLACE_AS_WRITTEN(polynomial_of<pade<T, Divisor>::coefficients, 0, 2>(square));
    const T odd = DEVPLACE_AS_WRITTEN(r * polynomial_of<pade<T, Divisor>::coefficients, 1, 2>(square));
    raised = DEVPLACE_AS_WRITTEN((even + odd) * parts.scale);
    denominator = even - odd;
  }
  [[gnu::always_inline]] DEVPLACE_HD inline T numerator() const { return raised * raised_exponent<T>::lowered; }
};

/// exp(x) - 1 within 3 ulp, also for small x; exactly -1 and infinity beyond the limits, -0 for -0, NaN for NaN:
/// 2^k (exp(r) - 1) + (2^k - 1).
template <floating_element T> [[gnu::always_inline]] DEVPLACE_HD inline T fast_expm1(T x) {
  using constants = exponential_constants<T>;
  using bits = typename constants::bits;
  using unsigned_bits = typename exponent_parts<T>::unsigned_bits;
  constexpr bits sign_bit = lowest_number<bits>;
  const exponent_parts<T> parts(limited_to(constants::limit, x));
  const T series = parts.r + parts.r * parts.r * exponential_series<2, constants::degree>(parts.r);
  // As in fast_exp: 2^k = first * second.
  const auto doubled = static_cast<unsigned_bits>(parts.scale + 2u * constants::bias);
  const auto half = static_cast<unsigned_bits>(doubled >> 1);
  const auto other = static_cast<unsigned_bits>(doubled - half);
  const T first = power_of_two<T>(half);
  const T reciprocal_of_second = power_of_two<T>(static_cast<unsigned_bits>(2u * constants::bias - other));
  const T scaled = DEVPLACE_AS_WRITTEN(series * first) + DEVPLACE_AS_WRITTEN(first - reciprocal_of_second);
  const T result = DEVPLACE_AS_WRITTEN(scaled) * power_of_two<T>(other);
  return same_bits<T>(same_bits<bits>(result) | (same_bits<bits>(x) & sign_bit));  // the sign of zero for a small x
}

/// tanh(x) within 3 ulp, exactly -1 and 1 for large x, -0 for -0, NaN for NaN: e / (e + 2) with e = exp(2 |x|) - 1
/// = 2^k (exp(r) - 1) + (2^k - 1).
template <floating_element T> [[gnu::always_inline]] DEVPLACE_HD inline T fast_tanh(T x) {
  using constants = exponential_constants<T>;
  using bits = typename constants::bits;
  constexpr bits sign_bit = lowest_number<bits>;
  const T size = same_bits<T>(same_bits<bits>(x) & ~sign_bit);
  const exponent_parts<T> parts(2 * limited_to(constants::tanh_limit, size));
  const T series = parts.r + parts.r * parts.r * exponential_series<2, constants::degree>(parts.r);
  const T scale =
      power_of_two<T>(parts.scale + static_cast<typename exponent_parts<T>::unsigned_bits>(constants::bias));
  const T e = DEVPLACE_AS_WRITTEN(series * scale) + DEVPLACE_AS_WRITTEN(scale - 1);
  return same_bits<T>(same_bits<bits>(e / (e + 2)) | (same_bits<bits>(x) & sign_bit));
}

}  // namespace devplace::detail
DEVPLACE_UNFUSED_END
