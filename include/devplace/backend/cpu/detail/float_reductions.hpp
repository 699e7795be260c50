// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include <devplace/backend/cpu/detail/cpu_isa.hpp>
#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/config.hpp>

// Sums and extrema of floats by vectors: the operations that reduced_block does with 32 accumulators, or with one for
// each column, in the same order.
DEVPLACE_HOST_PRAGMAS_BEGIN
namespace devplace::detail {

/// Converts floats at any address to a vector of doubles. In inline assembly, because g++ would read twice as many
/// floats at a time; extracting the upper half takes 50% longer. A function, because nvcc drops attributes of lambdas.
/// Takes a pointer, because clang assumes that a parameter of the type `const unaligned&` is aligned like a vector.
template <std::size_t Bytes>
[[gnu::always_inline]] inline void convert_floats(typename vector_of<double, Bytes>::type& to, const float* from) {
  const auto* const floats = reinterpret_cast<const typename vector_of<float, Bytes / 2>::unaligned*>(from);
#if defined(__x86_64__) && !defined(__clang__)
  if constexpr (Bytes != 16)
    __asm__("vcvtps2pd %1, %0" : "=x"(to) : "m"(*floats));
  else
#endif
    to = __builtin_convertvector(*floats, typename vector_of<double, Bytes>::type);
}

#if defined(__x86_64__)
/// Adds floats, times `one`, to vectors of doubles. Without a loop, because g++ keeps only elements with constant
/// indices in registers. The compiler must not know that `one` is 1: AMD's processors convert floats where they add,
/// but compute fused multiply-adds elsewhere, and take up to two fifths less time for these, with the bits of
/// additions.
template <std::size_t Bytes, std::size_t Count, std::size_t... I>
[[gnu::always_inline]] inline void add_floats(typename vector_of<double, Bytes>::type (&sums)[Count], const float* x,
                                              double one, std::index_sequence<I...>) {
  constexpr std::size_t lanes = Bytes / sizeof(double);
  typename vector_of<double, Bytes>::type converted;
  ((convert_floats<Bytes>(converted, x + I * lanes), sums[I] += converted * one), ...);
}

/// Copies fewer than 32 floats, most by vectors of 8, which can be read again as such without delay.
[[gnu::always_inline]] inline void copy_rest(float (&to)[32], const float* from, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) __builtin_memcpy(to + i, from + i, 8 * sizeof(float));
  for (; i < n; ++i) {
    to[i] = from[i];
    __asm__("");  // else g++ would call memcpy
  }
}

/// Returns how many floats ahead loops prefetch: farther than processors do, which gains a third for arrays in memory.
/// On AMD's family 25 (Zen 3 and 4) nothing: there sums took 3 to 10 % longer, and extrema 5 to 40 %.
inline std::size_t prefetched_ahead() { return __builtin_cpu_is("amdfam19h") != 0 ? 0 : 4096; }

template <std::size_t Bytes> [[gnu::always_inline]] inline double sum_in_lanes(const float* x, std::size_t n) {
  using four = vector_of<double, 32>::type;
  const std::size_t ahead = prefetched_ahead();
  constexpr std::size_t lanes = 32, vectors = lanes * sizeof(double) / Bytes;
  typename vector_of<double, Bytes>::type sums[vectors] = {};
  double one = 1;
  __asm__("" : "+x"(one));
  float rest[lanes];
  for (std::size_t taken = lanes; n != 0; n -= taken, x += lanes) {
    if (n < lanes) {
      for (float& number : rest) number = 0;  // changes no bit of a sum that begins with 0, because it never is -0
      copy_rest(rest, x, n);
      x = rest;
      taken = n;
    }
    __builtin_prefetch(x + ahead);
    __builtin_prefetch(x + ahead + lanes / 2);
    add_floats<Bytes>(sums, x, one, std::make_index_sequence<vectors>());
  }
  four last;
  if constexpr (Bytes == 64) {
    sums[0] = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    last =
        __builtin_shufflevector(sums[0], sums[0], 0, 1, 2, 3) + __builtin_shufflevector(sums[0], sums[0], 4, 5, 6, 7);
  } else {
    last = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  }
  return (last[0] + last[2]) + (last[1] + last[3]);
}

DEVPLACE_COMPILABLE([[gnu::target("avx2,fma")]])
void sums_for_avx2(double* to, const float* x, std::size_t n, std::size_t rows) {
  for (std::size_t row = 0; row != rows; ++row) to[row] = sum_in_lanes<32>(x + row * n, n);
}
DEVPLACE_COMPILABLE([[gnu::target("avx512f")]])
void sums_for_avx512(double* to, const float* x, std::size_t n, std::size_t rows) {
  for (std::size_t row = 0; row != rows; ++row) to[row] = sum_in_lanes<64>(x + row * n, n);
}
DEVPLACE_COMPILABLE([[gnu::target("avx512f")]])
void columns_for_avx512(double* to, const float* x, std::size_t stride, std::size_t rows) {
  using doubles = vector_of<double, 64>;
  constexpr std::size_t vectors = 8, ahead = 12;  // rows
  constexpr std::make_index_sequence<vectors> each;
  doubles::type sums[vectors] = {};
  double one = 1;
  __asm__("" : "+x"(one));
  for (std::size_t row = 0; row != rows; ++row, x += stride) {
    const float* const later = x + ahead * stride;
    __builtin_prefetch(later);
    __builtin_prefetch(later + 16);
    __builtin_prefetch(later + 32);
    __builtin_prefetch(later + 48);
    add_floats<64>(sums, x, one, each);
  }
  const auto store = [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    ((reinterpret_cast<doubles::unaligned*>(to)[I] = sums[I]), ...);
  };
  store(each);
}
DEVPLACE_COMPILED(void sums_for_avx2(double*, const float*, std::size_t, std::size_t))
DEVPLACE_COMPILED(void sums_for_avx512(double*, const float*, std::size_t, std::size_t))
DEVPLACE_COMPILED(void columns_for_avx512(double*, const float*, std::size_t, std::size_t))

template <bool Largest, class T> [[gnu::always_inline]] inline void take_extremum(T& to, const T& from) {
  to = (Largest ? from > to : from < to) ? from : to;
}

/// Returns false if an element is NaN.
template <bool Largest, std::size_t... I>
[[gnu::target("avx2")]] bool extrema_for_avx2(float* to, const float* x, std::size_t n, std::size_t rows,
                                              std::index_sequence<I...>) {
  using floats = vector_of<float, 32>;
  using four = vector_of<float, 16>::type;
  constexpr std::size_t lanes = 32;
  const std::size_t ahead = prefetched_ahead();
  constexpr float none = Largest ? -__builtin_inff() : __builtin_inff();
  const floats::type no_numbers = floats::type{} + none;
  auto nans = no_numbers != no_numbers;
  const auto take = [&](floats::type& extremum, const float* from) __attribute__((always_inline)) {
    const floats::type loaded = *reinterpret_cast<const floats::unaligned*>(from);
    take_extremum<Largest>(extremum, loaded);
    nans |= loaded != loaded;
  };
  for (std::size_t row = 0; row != rows; ++row) {
    floats::type extrema[] = {((void)I, no_numbers)...};
    std::size_t rest = n;
    for (; rest >= lanes; rest -= lanes, x += lanes) {
      __builtin_prefetch(x + ahead);
      __builtin_prefetch(x + ahead + lanes / 2);
      (take(extrema[I], x + 8 * I), ...);
    }
    if (rest != 0) {
      float copied[lanes];
      for (std::size_t i = 0; i < lanes; i += 8) *reinterpret_cast<floats::unaligned*>(copied + i) = no_numbers;
      copy_rest(copied, x, rest);
      x += rest;
      (take(extrema[I], copied + 8 * I), ...);
    }
    take_extremum<Largest>(extrema[0], extrema[2]);
    take_extremum<Largest>(extrema[1], extrema[3]);
    take_extremum<Largest>(extrema[0], extrema[1]);
    four last = __builtin_shufflevector(extrema[0], extrema[0], 0, 1, 2, 3);
    take_extremum<Largest, four>(last, __builtin_shufflevector(extrema[0], extrema[0], 4, 5, 6, 7));
    float even = last[0], odd = last[1];
    take_extremum<Largest, float>(even, last[2]);
    take_extremum<Largest, float>(odd, last[3]);
    take_extremum<Largest>(even, odd);
    to[row] = even;
  }
  return __builtin_ia32_movmskps256(reinterpret_cast<floats::type>(nans)) == 0;
}
#endif

/// Sums of rows of n floats without AVX2; for size on processors most of which have it.
#if defined(__x86_64__)
[[gnu::noinline, DEVPLACE_FOR_SIZE]]
#endif
inline void sums_in_lanes(double* to, const float* x, std::size_t n, std::size_t rows) {
  constexpr std::size_t lanes = 32;
  for (std::size_t row = 0; row != rows; ++row, x += n) {
    double sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (std::size_t lane = 0; lane != lanes; ++lane) sums[lane] += static_cast<double>(x[i + lane]);
    for (std::size_t lane = 0; i != n; ++i, ++lane) sums[lane] += static_cast<double>(x[i]);
    for (std::size_t half = lanes / 2; half != 0; half /= 2)
      for (std::size_t lane = 0; lane != half; ++lane) sums[lane] += sums[lane + half];
    to[row] = sums[0];
  }
}

[[gnu::always_inline]] inline void sums_of_floats(double* to, const float* x, std::size_t n, std::size_t rows) {
#if defined(__x86_64__)
  const cpu_isa isa = current_isa();
  if (isa == cpu_isa::avx512) return sums_for_avx512(to, x, n, rows);
  if (isa == cpu_isa::avx2) return sums_for_avx2(to, x, n, rows);
#endif
  sums_in_lanes(to, x, n, rows);
}

/// Computes the sums of 64 adjacent columns by AVX-512, or returns false. The registers of AVX2 hold 32 sums; reading
/// 1,024 columns twice takes 1.6 times as long as the loop of reduced_block.
[[gnu::always_inline]] inline bool column_sums_of_floats([[maybe_unused]] double* to, [[maybe_unused]] const float* x,
                                                         [[maybe_unused]] std::size_t stride,
                                                         [[maybe_unused]] std::size_t rows) {
#if defined(__x86_64__)
  if (current_isa() == cpu_isa::avx512) {
    columns_for_avx512(to, x, stride, rows);
    return true;
  }
#endif
  return false;
}

/// Computes the largest or smallest numbers of rows of n floats, or returns false: without AVX2, or if one is NaN.
template <bool Largest>
[[gnu::always_inline]] inline bool extrema_of_floats([[maybe_unused]] float* to, [[maybe_unused]] const float* x,
                                                     [[maybe_unused]] std::size_t n,
                                                     [[maybe_unused]] std::size_t rows) {
#if defined(__x86_64__)
  if (current_isa() != cpu_isa::generic)
    return extrema_for_avx2<Largest>(to, x, n, rows, std::make_index_sequence<4>());
#endif
  return false;
}

}  // namespace devplace::detail
DEVPLACE_HOST_PRAGMAS_END
