// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/ops/detail/exponential.hpp>
#include <devplace/ops/detail/philox.hpp>
#include <devplace/tensor/dtype.hpp>

// Functors that turn random words into numbers. CPU loops are range(); GPU threads call several().
//
// The arithmetic uses std::fma or has exact products, so contraction of products and sums by a compiler changes
// nothing. The bits are therefore the same with and without FMA instructions, on CPUs and GPUs.
namespace devplace::detail {

/// Number of random elements that justify a thread.
inline constexpr std::size_t random_grain = 4096;

/// Number of 32-bit random words per element of type T.
template <class T> inline constexpr std::size_t words_of = sizeof(T) / sizeof(std::uint32_t);

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

/// A uniform distribution in [low, high). `low` and `last`, the last number before high, are numbers of type T.
template <class T> struct uniform_body {
  using value = computed_t<T>;

  T* destination;
  random_sequence random;
  value low, width, last;

  static constexpr std::size_t per_block = 4 / words_of<value>;
  static constexpr unsigned at_once = 16 / sizeof(T);
  static constexpr std::size_t grain = random_grain;
  static constexpr std::size_t indices(std::size_t elements) { return elements; }
  static constexpr bool allows_fma = true;

  DEVPLACE_HD T element(const std::uint32_t* words) const {
    value x{};
    if constexpr (words_of<value> == 1) {  // the product of two 24-bit numbers is exact in double
      const double unit = static_cast<double>(unit_interval(words[0]));
      x = static_cast<value>(static_cast<double>(low) + unit * static_cast<double>(width));
    } else {
      x = std::fma(unit_interval(words[0], words[1]), width, low);
    }
    return static_cast<T>(x < last ? x : last);
  }

  /// Computes elements first to first + at_once - 1; `first` must be a multiple of at_once.
  DEVPLACE_DEVICE void several(std::size_t first, T* values) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < at_once; k += per_block) {
      const philox_block block = random.block((first + k) / per_block);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned j = 0; j < per_block; ++j) values[k + j] = element(block.word + j * words_of<value>);
    }
  }

  void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t chunk = philox_lanes * per_block;
    std::uint32_t word[4][philox_lanes], in_order[4 * philox_lanes];
    T values[chunk];
    for (std::size_t i = begin / chunk * chunk; i < end; i += chunk) {
      random.blocks(i / per_block, word);
      put_in_order(word, in_order);
      for (std::size_t k = 0; k < chunk; ++k) values[k] = element(in_order + k * words_of<value>);
      const std::size_t from = i < begin ? begin - i : 0, to = end - i < chunk ? end - i : chunk;
      for (std::size_t k = from; k < to; ++k) destination[i + k] = values[k];
    }
  }
};

/// Polynomial with the given coefficients, highest power first. Not a loop, so that loops around it are vectorised.
template <std::size_t Count, std::size_t... K>
DEVPLACE_HD inline double polynomial(double x, const double (&coefficients)[Count], std::index_sequence<K...>) {
  double result = coefficients[0];
  ((result = std::fma(result, x, coefficients[K + 1])), ...);
  return result;
}
template <std::size_t Count> DEVPLACE_HD inline double polynomial(double x, const double (&coefficients)[Count]) {
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

struct cosine_and_sine {
  double cosine, sine;
};

/// Cosine and sine of an angle in turns, in [0, 1).
DEVPLACE_HD inline cosine_and_sine portable_cosine_and_sine(double turns) {
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
  const auto sine = same_bits<std::uint64_t>(x * polynomial(square, of_sine));
  const auto cosine = same_bits<std::uint64_t>(polynomial(square, of_cosine));
  // A quarter turn later, the cosine is -sine and the sine is the cosine.
  const auto quarters = static_cast<std::uint64_t>(static_cast<std::uint32_t>(quarter));
  const std::uint64_t exchanged = (cosine ^ sine) & (0 - (quarters & 1));
  const std::uint64_t cosine_sign = ((quarters + 1) & 2) << 62, sine_sign = (quarters & 2) << 62;
  return {same_bits<double>((cosine ^ exchanged) ^ cosine_sign), same_bits<double>((sine ^ exchanged) ^ sine_sign)};
}

/// The square of the radius of a pair of standard normal numbers, from the first two words of the pair's block.
DEVPLACE_HD inline double squared_radius(std::uint32_t low, std::uint32_t high) {
  return -2 * portable_log((leading_bits(low, high) + 0.5) * 0x1p-53);  // the argument of the logarithm is in (0, 1]
}

/// A normal distribution (Box and Muller 1958). Index i generates the elements 2 i and 2 i + 1 from block i.
template <class T> struct normal_body {
  T* destination;
  std::size_t size;
  random_sequence random;
  double mean, deviation;

  static constexpr unsigned at_once = 16 / sizeof(T);
  static constexpr std::size_t grain = random_grain / 4;
  static constexpr std::size_t indices(std::size_t elements) { return (elements + 1) / 2; }
  static constexpr bool allows_fma = true, computes_much = true;

  void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t lanes = philox_lanes;
    std::uint32_t word[4][lanes];
    double radius[lanes];
    T values[2 * lanes];
    for (std::size_t i = begin; i < end; i += lanes) {
      random.blocks(i, word);
      for (std::size_t k = 0; k < lanes; ++k) radius[k] = squared_radius(word[0][k], word[1][k]);
      for (std::size_t k = 0; k < lanes; ++k) radius[k] = std::sqrt(radius[k]);
      for (std::size_t k = 0; k < lanes; ++k) pair(radius[k], word[2][k], word[3][k], values + 2 * k);
      const std::size_t first = 2 * i, last = size < 2 * end ? size : 2 * end;
      const std::size_t count = last - first < 2 * lanes ? last - first : 2 * lanes;
      for (std::size_t k = 0; k < count; ++k) destination[first + k] = values[k];
    }
  }

  /// Computes elements first to first + at_once - 1; `first` must be a multiple of at_once.
  DEVPLACE_DEVICE void several(std::size_t first, T* values) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < at_once; k += 2) {
      const philox_block block = random.block((first + k) / 2);
      pair(std::sqrt(squared_radius(block.word[0], block.word[1])), block.word[2], block.word[3], values + k);
    }
  }

 private:
  DEVPLACE_HD void pair(double radius, std::uint32_t low, std::uint32_t high, T* values) const {
    const cosine_and_sine direction = portable_cosine_and_sine(unit_interval(low, high));
    using value = computed_t<T>;
    values[0] = static_cast<T>(static_cast<value>(std::fma(deviation, radius * direction.cosine, mean)));
    values[1] = static_cast<T>(static_cast<value>(std::fma(deviation, radius * direction.sine, mean)));
  }
};

/// Dropout of samples with `columns` elements each; four neighbouring elements share a block.
template <class T> struct dropout_body {
  T* destination;
  const T* source;
  std::size_t columns;
  std::uint64_t first_sample;
  layer_key key;
  std::uint64_t threshold;  // a random 32-bit word below the threshold drops an element
  computed_t<T> scale;

  DEVPLACE_HD constexpr T element(T x, std::uint32_t word) const {
    using value = computed_t<T>;
    return static_cast<T>(word < threshold ? value{0} : static_cast<value>(x) * scale);
  }

  /// The words for columns 4 * group to 4 * group + 3.
  DEVPLACE_HD constexpr philox_block words(std::size_t row, std::size_t group) const {
    return of_sample(row).block(group);
  }

  void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t chunk = 4 * philox_lanes;
    std::uint32_t word[4][philox_lanes], in_order[chunk];
    while (begin < end) {
      const std::size_t row = begin / columns, start = row * columns;
      const std::size_t row_end = end - start < columns ? end - start : columns;
      const random_sequence random = of_sample(row);
      for (std::size_t column = begin - start; column < row_end;) {
        const std::size_t aligned = column / chunk * chunk;
        random.blocks(aligned / 4, word);
        put_in_order(word, in_order);
        const std::size_t stop = row_end < aligned + chunk ? row_end : aligned + chunk;
        DEVPLACE_INDEPENDENT_ITERATIONS_BEGIN
        for (std::size_t c = column; c < stop; ++c)
          destination[start + c] = element(source[start + c], in_order[c - aligned]);
        DEVPLACE_INDEPENDENT_ITERATIONS_END
        column = stop;
      }
      begin = start + row_end;
    }
  }

 private:
  DEVPLACE_HD constexpr random_sequence of_sample(std::size_t row) const { return {key.value, first_sample + row}; }
};

}  // namespace devplace::detail
