// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by instruction_sets.hpp only: all code for one instruction set.

inline constexpr std::size_t vector_bytes = 4 * DEVPLACE_LANES;           // size of a vector of a register tile
inline constexpr std::size_t pack_bytes = DEVPLACE_LANES == 4 ? 16 : 32;  // size of a row of a transposed block
// A vector, the type of its loads and stores at any address, and the elements of a vector of full size.
template <class T, std::size_t Bytes = vector_bytes> using vector = typename vector_of<T, Bytes>::type;
template <class T, std::size_t Bytes = vector_bytes> using loaded = typename vector_of<T, Bytes>::unaligned;
template <class T> inline constexpr std::size_t lanes = vector_bytes / sizeof(T);
// The accumulators of a tile, 2 vectors of B and one broadcast element of A use 11 registers of generic code, which fit
// the 16 of x86-64 and the 32 of NEON, 15 of the 16 of AVX2, and 19 of the 32 of AVX-512.
inline constexpr std::size_t tile_rows = DEVPLACE_LANES == 4 ? 4 : DEVPLACE_LANES == 8 ? 6 : 8;
// The instruction for square roots; scalar ones if undefined.
#if defined(__AVX__) || DEVPLACE_LANES > 4
  #define DEVPLACE_ROOT "vsqrt"
#elif defined(__x86_64__)
  #define DEVPLACE_ROOT "sqrt"
#endif

#include <devplace/backend/cpu/detail/gemm_lanes_body.hpp>

#include <devplace/backend/cpu/detail/gemm_packing_body.hpp>

#include <devplace/backend/cpu/detail/gemm_kernel_body.hpp>

#include <devplace/backend/cpu/detail/gemm_dots_body.hpp>

/// Vector arithmetic for the formulas of optimizers (runtime/step_record.hpp).
template <class T> struct vector_arithmetic {
  T factor;

  /// Computes the correctly rounded square root of every lane. Written as inline assembly because neither compiler
  /// vectorises std::sqrt, which may set errno.
  DEVPLACE_TARGET static void take_root(vector<T>& x) {
#if defined(DEVPLACE_ROOT)
    if constexpr (sizeof(T) == sizeof(float))
      __asm__(DEVPLACE_ROOT "ps %1, %0" : "=x"(x) : "x"(x));
    else
      __asm__(DEVPLACE_ROOT "pd %1, %0" : "=x"(x) : "x"(x));
#else
    for (std::size_t lane = 0; lane < lanes<T>; ++lane) x[lane] = std::sqrt(x[lane]);
#endif
  }
};

/// Updates elements [begin, end), except the rounded parameters that layers read.
template <class Update, std::size_t... Array>
DEVPLACE_TARGET inline void update_arrays(const Update& enqueued, std::size_t begin, std::size_t end,
                                          std::index_sequence<Array...>) {
  using T = typename Update::value_type;
  const Update u = enqueued;  // a local copy, which no store can alias
  const auto formula = u.steps->next;
  const vector_arithmetic<T> arithmetic{u.source.factor()};
  const std::size_t whole = begin + (end - begin) / lanes<T> * lanes<T>;
  for (std::size_t i = begin; i < whole; i += lanes<T>) {
    const vector<T> gradient = *reinterpret_cast<const loaded<T>*>(u.source.gradients + i);
    vector<T> x[] = {*reinterpret_cast<const loaded<T>*>(u.arrays[Array] + i)...};
    formula(arithmetic, gradient, x[Array]...);
    ((*reinterpret_cast<loaded<T>*>(u.arrays[Array] + i) = x[Array]), ...);
  }
  for (std::size_t i = whole; i < end; ++i) u.element(formula, arithmetic.factor, i);
}

/// The argument that with_instruction_set passes to its function.
struct code {
  template <class T> static constexpr gemm_kernels<T> gemm() {
    return {pack<T>,
            copy_rows<T, lanes<T>>,
            {{tile<T, 2, 1>, tile<T, 2, 2>},
             {tile<T, 4, 1>, tile<T, 4, 2>},
             {tile<T, tile_rows, 1>, tile<T, tile_rows, 2>}},
            narrow::store_transposed<T>,
            dot_range<T>,
            tile_rows,
            lanes<T>};
  }
  template <class Update>
  static void update([[maybe_unused]] const Update& enqueued, [[maybe_unused]] std::size_t begin,
                     [[maybe_unused]] std::size_t end) {
    // nvcc's device pass rejects vectors in formulas of optimizers, because formulas are device code, too.
    DEVPLACE_IF_HOST(update_arrays(enqueued, begin, end, typename Update::array_numbers{});)
  }
  /// Adds the squares of up to 4096 values by runtime::exact_squares, in independent chains of additions: of vectors
  /// for floats, but of numbers for doubles, because vectors have no std::fma.
  template <class Squares, class T>
  DEVPLACE_TARGET static auto sum_of(const Squares& squares, const T* values, std::size_t count) {
    using number = std::conditional_t<Squares::is_float, vector<double>, double>;
    constexpr std::size_t lanes = sizeof(number) / sizeof(double), chains = 4 * vector_bytes / sizeof(number);
    const Squares local = squares;
    number high[chains], low[chains];
    DEVPLACE_UNROLL
    for (std::size_t chain = 0; chain < chains; ++chain) {
      high[chain] = number{} + Squares::first_high;
      low[chain] = number{} + Squares::first_low;
    }
    std::size_t i = 0;
    for (; i + chains * lanes <= count; i += chains * lanes) {
      DEVPLACE_UNROLL
      for (std::size_t chain = 0; chain < chains; ++chain) {
        const T* const from = values + i + chain * lanes;
        number x;
        if constexpr (Squares::is_float)
          convert_floats<vector_bytes>(x, from);
        else
          x = *from;
        DEVPLACE_IF_HOST(local.add(high[chain], low[chain], x);)  // no vectors in device code
      }
    }
    auto* const highs = reinterpret_cast<double*>(high);
    auto* const lows = reinterpret_cast<double*>(low);
    for (; i < count; ++i) local.add(*highs, *lows, static_cast<double>(values[i]));
    return local.digits(highs, lows, chains * lanes);
  }
};

#undef DEVPLACE_ROOT
