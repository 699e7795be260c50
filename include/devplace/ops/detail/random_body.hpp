// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/ops/detail/computed_type.hpp>
#include <devplace/ops/detail/philox.hpp>

// Functors that turn random words into numbers, in CPU loops and, `several` elements at a time, in GPU threads.
//
// The arithmetic is written such that no compiler can contract a product and a sum differently: it uses std::fma, or
// the product is exact. Therefore the bits are the same with and without FMA instructions, on CPUs and GPUs.
namespace devplace::detail {

/// Number of random elements that justify a thread.
inline constexpr std::size_t random_grain = 4096;

/// Number of 32-bit random words per element of type T.
template <class T>
inline constexpr std::size_t words_of = sizeof(T) / sizeof(std::uint32_t);

/// A uniformly distributed number from its words: uses as many leading bits as T's significand has.
template <class T>
DEVPLACE_HD constexpr T unit_interval(const std::uint32_t* words) {
  if constexpr (words_of<T> == 1) {
    return static_cast<T>(words[0] >> 8) * static_cast<T>(0x1p-24);
  } else {
    const std::uint64_t both = std::uint64_t{words[1]} << 32 | words[0];
    return static_cast<T>(both >> 11) * static_cast<T>(0x1p-53);
  }
}

/// A uniform distribution in [low, high); `last` is the predecessor of high.
template <class T>
struct uniform_body {
  T* destination;
  random_sequence random;
  T low, width, last;

  static constexpr std::size_t per_block = 4 / words_of<T>;
  static constexpr unsigned at_once = per_block;
  static constexpr std::size_t grain = random_grain;
  static constexpr std::size_t indices(std::size_t elements) { return elements; }

  DEVPLACE_HD T element(const std::uint32_t* words) const {
    const T unit = unit_interval<T>(words);
    T value{};
    if constexpr (words_of<T> == 1)  // the product of two 24-bit numbers is exact in double
      value = static_cast<T>(static_cast<double>(low) + static_cast<double>(unit) * static_cast<double>(width));
    else
      value = std::fma(unit, width, low);
    return value < last ? value : last;
  }

  /// Elements first to first + at_once - 1; `first` must be a multiple of at_once.
  DEVPLACE_DEVICE void several(std::size_t first, T* values) const {
    const philox_block block = random.block(first / per_block);
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < at_once; ++k)
      values[k] = element(block.word + k * words_of<T>);
  }

  void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t chunk = philox_lanes * per_block;
    std::uint32_t word[4][philox_lanes], in_order[4 * philox_lanes];
    for (std::size_t i = begin / chunk * chunk; i < end; i += chunk) {
      random.blocks(i / per_block, word);
      for (std::size_t k = 0; k < 4 * philox_lanes; ++k)
        in_order[k] = word[k % 4][k / 4];
      const std::size_t from = i < begin ? begin - i : 0, to = end - i < chunk ? end - i : chunk;
      for (std::size_t k = from; k < to; ++k)
        destination[i + k] = element(in_order + k * words_of<T>);
    }
  }
};

/// Polynomial with the given coefficients, highest power first.
template <std::size_t Count>
DEVPLACE_HD inline double polynomial(double x, const double (&coefficients)[Count]) {
  double result = coefficients[0];
  for (std::size_t k = 1; k < Count; ++k)
    result = std::fma(result, x, coefficients[k]);
  return result;
}

/// Natural logarithm of a positive normal number, with an error of a few ulp.
DEVPLACE_HD inline double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // in [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  // log m = 2 artanh(s) = 2 s (1 + s^2 / 3 + s^4 / 5 + ...), |s| < 0.172
  const double s = (m - 1) / (m + 1), square = s * s;
  constexpr double odd_reciprocals[] = {1. / 23, 1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13,
                                        1. / 11, 1. / 9,  1. / 7,  1. / 5,  1. / 3,  1.};
  return std::fma(static_cast<double>(exponent), 0.69314718055994531, 2 * s * polynomial(square, odd_reciprocals));
}

struct cosine_and_sine {
  double cosine, sine;
};

/// Cosine and sine of a full turn's fraction in [0, 1).
DEVPLACE_HD inline cosine_and_sine portable_cosine_and_sine(double turns) {
  const int quarter = static_cast<int>(std::fma(turns, 4., 0.5));
  const double x = (turns - quarter * 0.25) * 6.28318530717958648, square = x * x;  // |x| <= pi / 4; exact difference
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
  const double sine = x * polynomial(square, of_sine), cosine = polynomial(square, of_cosine);
  switch (quarter % 4) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

/// Two independent standard normal numbers from one block (Box and Muller 1958).
DEVPLACE_HD inline cosine_and_sine normal_pair(const philox_block& block) {
  const std::uint64_t radius_bits = (std::uint64_t{block.word[1]} << 32 | block.word[0]) >> 11;
  const double radius_unit = (static_cast<double>(radius_bits) + 0.5) * 0x1p-53;  // in (0, 1]
  const double radius = std::sqrt(-2 * portable_log(radius_unit));
  const cosine_and_sine direction = portable_cosine_and_sine(unit_interval<double>(block.word + 2));
  return {radius * direction.cosine, radius * direction.sine};
}

/// A normal distribution. Index i generates the elements 2 i and 2 i + 1.
template <class T>
struct normal_body {
  T* destination;
  std::size_t size;
  random_sequence random;
  double mean, deviation;

  static constexpr unsigned at_once = 16 / sizeof(T);
  static constexpr std::size_t grain = random_grain / 4;
  static constexpr std::size_t indices(std::size_t elements) { return (elements + 1) / 2; }

  void operator()(std::size_t i) const {
    T values[2];
    pair(i, values);
    destination[2 * i] = values[0];
    if (2 * i + 1 < size) destination[2 * i + 1] = values[1];
  }

  /// Elements first to first + at_once - 1; `first` must be a multiple of at_once.
  DEVPLACE_DEVICE void several(std::size_t first, T* values) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < at_once; k += 2)
      pair((first + k) / 2, values + k);
  }

 private:
  DEVPLACE_HD void pair(std::size_t i, T* values) const {
    const cosine_and_sine normal = normal_pair(random.block(i));
    values[0] = static_cast<T>(std::fma(deviation, normal.cosine, mean));
    values[1] = static_cast<T>(std::fma(deviation, normal.sine, mean));
  }
};

/// Dropout of samples with `columns` elements each; four neighbouring elements share a block.
template <class T>
struct dropout_body {
  T* destination;
  const T* source;
  std::size_t columns;
  std::uint64_t first_sample;
  philox_key key;
  std::uint64_t threshold;  // words below it, of 2^32, drop their element
  computed_t<T> scale;

  DEVPLACE_HD constexpr T element(T x, std::uint32_t word) const {
    using value = computed_t<T>;
    return static_cast<T>(word < threshold ? value{0} : static_cast<value>(x) * scale);
  }

  /// The words of columns 4 group to 4 group + 3.
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
        for (std::size_t k = 0; k < chunk; ++k)
          in_order[k] = word[k % 4][k / 4];
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
  DEVPLACE_HD constexpr random_sequence of_sample(std::size_t row) const {
    random_sequence random(0, first_sample + row);
    random.key = key;
    return random;
  }
};

}  // namespace devplace::detail
