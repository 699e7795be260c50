// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/reduced_inputs.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

// Norms whose bits depend neither on the order of the elements nor on their division among threads, places and
// processes. A first reduction finds the largest magnitude. It gives a unit: 2^-80 of a power of 4 above all squares. A
// second reduction rounds each square to a multiple of the unit and adds these integers, exactly. Compare Demmel and
// Nguyen, "Parallel reproducible summation", 2015.

namespace devplace::runtime {

/// A sum of up to 2^33 squares: high 2^50 + low units. Unsigned, because the digits of infinite and NaN elements, which
/// nobody reads, overflow.
struct square_sum {
  static constexpr int low_bits = 50;
  std::uint64_t high, low;

  /// Adds another sum, and carries: `low` is below 2^50 afterwards.
  DEVPLACE_HD constexpr void add(const square_sum& other) {
    high += other.high;
    low += other.low;
    high += static_cast<std::uint64_t>(static_cast<std::int64_t>(low) >> low_bits);  // low may be negative
    low &= (std::uint64_t{1} << low_bits) - 1;
  }
};

/// Adds squares of numbers whose largest magnitude has the bits `largest` (magnitude_bits).
template <class T> class exact_squares {
 public:
  static constexpr bool is_float = sizeof(T) == sizeof(float);

  DEVPLACE_HD explicit exact_squares(std::int64_t largest) : inverse_(0.25 * power(2 - exponent(largest))) {}

  DEVPLACE_HD static T number(std::int64_t largest) {
    return devplace::detail::same_bits<T>(static_cast<devplace::detail::bits_of<T>>(largest));
  }

  /// Two sums of up to 4096 squares, each scaled to at most 1: of the squares rounded to multiples of 2^-40, and of the
  /// rests, rounded to multiples of 2^-80. They begin at a power of two and between two of them instead of 0, and stay
  /// below the next power, so that the addition itself rounds the summand.
  static constexpr double first_high = 0x1p12, first_low = 0x1.8p-28;

  /// Returns the digits of pairs of sums of 4096 squares in total.
  DEVPLACE_HD static square_sum digits(const double* high, const double* low, std::size_t pairs) {
    std::uint64_t multiples = 0, units = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      multiples += bits_of(high[i]) - bits_of(first_high);
      units += bits_of(low[i]) - bits_of(first_low);
    }
    return {multiples >> 10, ((multiples & 1023) << 40) + units};
  }

  /// Adds a number's square to two sums; those of floats also as vectors. The rest is exact for floats. It is never
  /// half a unit from two multiples, between which the sum would decide: the lowest bit of a square has an even
  /// exponent, and half a unit an odd one. The rest of a double is rounded, and then gets a bit below half a unit.
  template <class Number>
  [[gnu::always_inline]] DEVPLACE_HD void add(Number& high, Number& low, const Number& number) const {
    const Number x = number * inverse_;
    Number rest = high;
    add_square(high, x);
    rest = rest - high;
    DEVPLACE_KEEP_AS_WRITTEN(rest);
    add_square(rest, x);
    if constexpr (!is_float) rest = devplace::detail::same_bits<double>(bits_of(rest) | 1);
    low = low + rest;
    DEVPLACE_KEEP_AS_WRITTEN(low);
  }

  /// Returns the root of the sum of all numbers' squares; infinity or NaN if that is the largest number.
  DEVPLACE_HD static double root(std::int64_t largest, square_sum sum) {
    if (!devplace::detail::is_finite(number(largest))) return static_cast<double>(number(largest));
    sum.add({0, 0});
    const double squares = static_cast<double>(sum.high) * 0x1p-30 + static_cast<double>(sum.low) * 0x1p-80;
    return 2 * std::sqrt(squares) * power(exponent(largest) - 1);
  }

 private:
  DEVPLACE_HD static std::uint64_t bits_of(double x) { return devplace::detail::same_bits<std::uint64_t>(x); }
  /// Returns a power of two with an exponent from -1022 to 1023.
  DEVPLACE_HD static double power(int exponent) {
    return devplace::detail::same_bits<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  }
  /// Returns the exponent, from -1021 to 1024, of a power of two above all numbers.
  DEVPLACE_HD static int exponent(std::int64_t largest) {
    const int biased = static_cast<int>(bits_of(static_cast<double>(number(largest))) >> 52);
    return (biased == 0 ? 1 : biased) - 1022;
  }
  template <class Number> [[gnu::always_inline]] DEVPLACE_HD static void add_square(Number& to, const Number& x) {
    if constexpr (is_float)
      to = x * x + to;  // the product is exact, so it does not matter whether a compiler fuses
    else
      to = std::fma(x, x, to);
    DEVPLACE_KEEP_AS_WRITTEN(to);
  }

  double inverse_;  ///< of a power of two above all numbers
};

/// Reducer that finds the bits of the largest magnitude; those of NaN are larger than those of infinity. Stores the
/// bits, or the larger ones of these and the stored ones. Vectors compare signed integers with fewer instructions.
template <class T> struct magnitude_reducer {
  using accumulator = std::make_signed_t<devplace::detail::bits_of<T>>;
  static constexpr bool reduces_all = true;
  std::int64_t* stored;
  bool merges;

  DEVPLACE_HD static constexpr accumulator identity() { return 0; }
  DEVPLACE_HD static void add(accumulator& a, T x, std::size_t) {
    merge(a, static_cast<accumulator>(devplace::detail::magnitude_bits(x)));
  }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) { a = b > a ? b : a; }
  DEVPLACE_HD void store(std::size_t, accumulator a) const { *stored = merges && *stored > a ? *stored : a; }
};

/// The digits of the squares of elements, as a source of a reduction.
template <class T> struct square_source {
  struct elements {
    const T* data;
    exact_squares<T> squares;

    DEVPLACE_HD devplace::detail::one_input<T> inputs() const { return {data}; }
    DEVPLACE_HD square_sum from_inputs(T x) const {
      double high = squares.first_high, low = squares.first_low;
      squares.add(high, low, static_cast<double>(x));
      return squares.digits(&high, &low, 1);
    }
    DEVPLACE_HD square_sum operator()(std::size_t i) const { return from_inputs(data[i]); }
  };
  const T* data;
  const std::int64_t* largest;

  DEVPLACE_HD elements of_result(std::size_t) const { return {data, exact_squares<T>(*largest)}; }
};

}  // namespace devplace::runtime
