// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/exponential.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/tensor/dtype.hpp>

DEVPLACE_HOST_PRAGMAS_BEGIN
DEVPLACE_UNFUSED_BEGIN
namespace devplace::detail {

// Loops over a row in groups of 8 elements, with 8 accumulators: compilers can vectorise them without reordering
// floating-point sums, and the rounding error of a sum is that of n/8 additions in double.

inline constexpr std::size_t row_lanes = 8;

/// The sum of 8 accumulators, pairwise.
DEVPLACE_HD inline double sum_of_lanes(const double* lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/// x - max, or a number whose exp is 0.
template <class T> DEVPLACE_HD T exponent_of(T x, T max) {
  const T exponent = x - max;
  return exponent < least_exponent<T> ? least_exponent<T> : exponent;
}

/// exp(x - max), where x - max is below 64.
template <class T> DEVPLACE_HD T exponential_of(T x, T max) { return fast_exp_below_64<T>(exponent_of<T>(x, max)); }

/// Vectors of 4 elements at any address.
template <class T> struct four_of {
  typedef T type __attribute__((vector_size(4 * sizeof(T))));
  typedef T in_memory __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));
};

/// Adds groups of 8 terms to the accumulators. At -O2, g++ would keep the array of accumulators in memory.
template <std::size_t Terms> [[gnu::always_inline]] inline void add_groups(double* lanes, const double* terms) {
  using in_memory = four_of<double>::in_memory;
  const auto* const next = reinterpret_cast<const in_memory*>(terms);
  auto* const halves = reinterpret_cast<in_memory*>(lanes);
  four_of<double>::type low = halves[0], high = halves[1];
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Terms / 4; i += 2) low += next[i], high += next[i + 1];
  halves[0] = low;
  halves[1] = high;
}

/// Sum of `term(c)` for c below n; terms are rounded to T, the sum is not.
template <class T, class Term> DEVPLACE_HD double row_sum(std::size_t n, const Term& term) {
  constexpr std::size_t many = 8 * row_lanes;  // so that several vectors of terms are computed at a time
  double lanes[row_lanes] = {};
  std::size_t c = 0;
  for (; c + many <= n; c += many) {
    T terms[many];
    for (std::size_t i = 0; i < many; ++i) terms[i] = term(c + i);
    DEVPLACE_IF_HOST(if constexpr (std::is_same_v<T, double>) {
      add_groups<many>(lanes, terms);
      continue;
    })
    DEVPLACE_NO_UNROLL
    for (std::size_t i = 0; i < many; i += row_lanes)
      for (std::size_t lane = 0; lane < row_lanes; ++lane) lanes[lane] += static_cast<double>(terms[i + lane]);
  }
  for (; c + row_lanes <= n; c += row_lanes)
    for (std::size_t lane = 0; lane < row_lanes; ++lane) lanes[lane] += static_cast<double>(term(c + lane));
  double rest = 0;
  for (; c < n; ++c) rest += static_cast<double>(term(c));
  return sum_of_lanes(lanes) + rest;
}

/// Sums over a row: of x - origin and of its square.
struct row_moments {
  double sum, squares;
};

/// The moments of the first elements, in groups of 16; sets `done` to their number. Uses vector types, because with
/// AVX2, g++'s conversion of floats in loops takes several times as long.
template <class T, class Element>
[[gnu::always_inline]] inline row_moments moments_of_groups(const Element* x, std::size_t n, double origin,
                                                            std::size_t& done) {
  using in_memory = typename four_of<T>::in_memory;
  using four_doubles = four_of<double>::type;
  constexpr std::size_t vectors = 4, group = 4 * vectors;
  const four_doubles origins = {origin, origin, origin, origin};
  four_doubles sums[vectors] = {}, squares[vectors] = {};
  for (done = 0; done + group <= n; done += group) {
    const T* values;
    T converted[group];
    if constexpr (std::is_same_v<T, Element>) {
      values = x + done;
    } else {
      for (std::size_t i = 0; i < group; ++i) converted[i] = static_cast<T>(x[done + i]);
      values = converted;
    }
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < vectors; ++i) {
      const four_doubles difference =
          __builtin_convertvector(*reinterpret_cast<const in_memory*>(values + 4 * i), four_doubles) - origins;
      sums[i] += difference;
      squares[i] += difference * difference;
    }
  }
  const four_doubles sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  const four_doubles square = (squares[0] + squares[2]) + (squares[1] + squares[3]);
  return {(sum[0] + sum[2]) + (sum[1] + sum[3]), (square[0] + square[2]) + (square[1] + square[3])};
}

/// The moments of a row; 16-bit elements are converted to T.
template <class T> DEVPLACE_HD row_moments moments_of_row(const auto* x, std::size_t n, double origin) {
  std::size_t c = 0;
  row_moments result{0, 0};
  DEVPLACE_IF_HOST(result = moments_of_groups<T>(x, n, origin, c);)
  for (; c < n; ++c) {
    const double difference = static_cast<double>(static_cast<T>(x[c])) - origin;
    result.sum += difference;
    result.squares += difference * difference;
  }
  return result;
}

/// Maps a number's bits to an integer that compares as the number does, with -0 below 0, because compilers vectorise
/// comparisons of integers. Its own inverse: rank_of(rank_of(bits)) == bits.
template <class Bits> DEVPLACE_HD constexpr Bits rank_of(Bits bits) {
  return bits ^ (bits < 0 ? highest_number<Bits> : Bits{0});
}

/// The largest element, -infinity if there is none. With a NaN, the result is NaN or the largest number.
template <class T, class From> DEVPLACE_HD T row_max(const From* x, std::size_t n) {
  using bits = typename exponential_constants<T>::bits;
  const bits lowest = rank_of(same_bits<bits>(-infinity<T>));
  bits lanes[row_lanes] = {lowest, lowest, lowest, lowest, lowest, lowest, lowest, lowest};
  std::size_t c = 0;
  for (; c + row_lanes <= n; c += row_lanes) {
    for (std::size_t lane = 0; lane < row_lanes; ++lane) {
      const bits rank = rank_of(same_bits<bits>(static_cast<T>(x[c + lane])));
      lanes[lane] = rank > lanes[lane] ? rank : lanes[lane];
    }
  }
  bits result = lowest;
  for (; c < n; ++c) {
    const bits rank = rank_of(same_bits<bits>(static_cast<T>(x[c])));
    result = rank > result ? rank : result;
  }
  for (std::size_t lane = 0; lane < row_lanes; ++lane) result = lanes[lane] > result ? lanes[lane] : result;
  return same_bits<T>(rank_of(result));
}

/// Sum of exp(x[c] - max), with differences below 64; also stores each term in e[c] unless `e` is null. `e` may be `x`.
template <class T, class From> DEVPLACE_HD double row_exponentials(T* e, const From* x, T max, std::size_t n) {
  constexpr std::size_t most = exponential_block<T>::most, few = 4 * row_lanes;  // few elements are faster by lanes
  double lanes[row_lanes] = {}, rest = 0;
  std::size_t begin = 0;
  for (; n >= few && begin < n; begin += most) {
    exponential_block<T> block;
    const T* const terms = block.numbers;
    const std::size_t count = n - begin < most ? n - begin : most;
    independent_loop(0, count,
                     [&](std::size_t i) { block.numbers[i] = exponent_of<T>(static_cast<T>(x[begin + i]), max); });
    block.template take_exponentials<raised_exponent<T>>(count);
    std::size_t c = 0;
    DEVPLACE_NO_UNROLL
    for (; c + row_lanes <= count; c += row_lanes)
      for (std::size_t lane = 0; lane < row_lanes; ++lane) lanes[lane] += static_cast<double>(terms[c + lane]);
    for (; c < count; ++c) rest += static_cast<double>(terms[c]);
    if (e != nullptr) independent_loop(0, count, [=](std::size_t i) { e[begin + i] = terms[i]; });
  }
  for (; begin + row_lanes <= n; begin += row_lanes) {
    // Compilers vectorise the two loops; in one unrolled loop, g++ would turn the condition of exponent_of into
    // branches.
    T terms[row_lanes];
    DEVPLACE_NO_UNROLL
    for (std::size_t i = 0; i < row_lanes; ++i) terms[i] = exponent_of<T>(static_cast<T>(x[begin + i]), max);
    for (std::size_t i = 0; i < row_lanes; ++i) terms[i] = fast_exp_below_64<T>(terms[i]);
    for (std::size_t lane = 0; lane < row_lanes; ++lane) lanes[lane] += static_cast<double>(terms[lane]);
    if (e == nullptr) continue;
    for (std::size_t i = 0; i < row_lanes; ++i) e[begin + i] = terms[i];
  }
  for (; begin < n; ++begin) {
    const T term = exponential_of<T>(static_cast<T>(x[begin]), max);
    if (e != nullptr) e[begin] = term;
    rest += static_cast<double>(term);
  }
  return sum_of_lanes(lanes) + rest;
}

/// row_exponentials in short code, with the same bits.
template <class T> DEVPLACE_HD double short_row_exponentials(T* e, const T* x, T max, std::size_t n) {
  double lanes[row_lanes + 1] = {};  // the last is for elements that fill no lanes
  for (std::size_t c = 0; c < n; ++c) {
    const T term = exponential_of<T>(x[c], max);
    if (e != nullptr) e[c] = term;
    lanes[c < n / row_lanes * row_lanes ? c % row_lanes : row_lanes] += static_cast<double>(term);
  }
  return sum_of_lanes(lanes) + lanes[row_lanes];
}

}  // namespace devplace::detail
DEVPLACE_UNFUSED_END
DEVPLACE_HOST_PRAGMAS_END
