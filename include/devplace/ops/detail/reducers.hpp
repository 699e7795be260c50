// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/place/algebra.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

// A reducer defines a reduction along an axis. An accumulator starts as identity(). add() adds an element with its
// position, merge() adds another accumulator, and store() writes the result. Positions are added to one accumulator in
// ascending order; merge() must work for any disjoint positions. A reducer used only in plans with a single result
// (outer = inner = 1) can declare a static member reduces_all, which saves code.

/// Accumulator for sums: double for floating-point elements, int64 for integers.
template <element T> using sum_accumulator_t = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

/// Element type of sums: int64 for integers, as in PyTorch; otherwise the elements' type.
template <element T> using sum_result_t = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;

template <class T, class Result = sum_result_t<T>> struct sum_reducer {
  static constexpr bool adds_values = true;
  using accumulator = sum_accumulator_t<T>;
  Result* result;
  Result beta;  // result = beta * result + sum; with 0, result is not read

  DEVPLACE_HD static constexpr accumulator identity() { return 0; }
  DEVPLACE_HD static constexpr void add(accumulator& a, T x, std::size_t) { merge(a, static_cast<accumulator>(x)); }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) { a = elementary::plus{}(a, b); }
  DEVPLACE_HD void store(std::size_t output, accumulator a) const {
    const auto sum = static_cast<Result>(a);
    result[output] = beta == 0 ? sum : static_cast<Result>(beta * result[output] + sum);
  }
};

template <class T, class Result = T> struct mean_reducer {
  static constexpr bool adds_values = true;
  using accumulator = double;
  Result* result;
  double count;

  DEVPLACE_HD static constexpr accumulator identity() { return 0; }
  DEVPLACE_HD static constexpr void add(accumulator& a, T x, std::size_t) { a += static_cast<double>(x); }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) { a += b; }
  DEVPLACE_HD void store(std::size_t output, accumulator a) const { result[output] = static_cast<Result>(a / count); }
};

template <class T> struct product_reducer {
  static constexpr unsigned least_blocks = 1;  // see backend/cuda/kernels/reduce.hpp
  using accumulator = sum_accumulator_t<T>;
  sum_result_t<T>* result;

  DEVPLACE_HD static constexpr accumulator identity() { return 1; }
  DEVPLACE_HD static constexpr void add(accumulator& a, T x, std::size_t) { merge(a, static_cast<accumulator>(x)); }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) { a = elementary::times{}(a, b); }
  DEVPLACE_HD void store(std::size_t output, accumulator a) const { result[output] = static_cast<sum_result_t<T>>(a); }
};

/// The result of a nonzero_reducer: how many elements are not 0, whether any is not 0, or whether all are not 0.
enum class nonzero : unsigned char { number, any, all };

template <class T, nonzero Wanted> struct nonzero_reducer {
  using accumulator = std::int64_t;
  using result_type = std::conditional_t<Wanted == nonzero::number, std::int64_t, std::uint8_t>;
  result_type* result;
  std::int64_t count;  ///< of all elements

  DEVPLACE_HD static constexpr accumulator identity() { return 0; }
  DEVPLACE_HD static constexpr void add(accumulator& a, computed_t<T> x, std::size_t) { a += x != 0 ? 1 : 0; }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) { a += b; }
  DEVPLACE_HD void store(std::size_t output, accumulator a) const {
    result[output] = static_cast<result_type>(Wanted == nonzero::number ? a
                                              : Wanted == nonzero::any  ? a != 0
                                                                        : a == count);
  }
};

template <class T, bool Largest> struct extremum_reducer {
  static constexpr bool largest = Largest;
  using accumulator = computed_t<T>;
  T* result;

  DEVPLACE_HD static constexpr accumulator identity() {
    if constexpr (std::is_integral_v<T>)
      return Largest ? lowest_number<T> : highest_number<T>;
    else
      return Largest ? -infinity<accumulator> : infinity<accumulator>;
  }
  DEVPLACE_HD static constexpr void add(accumulator& a, accumulator x, std::size_t) {
    a = static_cast<unsigned>(Largest ? x > a : x < a) | static_cast<unsigned>(x != x) ? x : a;  // without a branch
  }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) { add(a, b, 0); }
  DEVPLACE_HD void store(std::size_t output, accumulator a) const { result[output] = T(a); }
};

template <class T, bool Largest> struct extremum_position_reducer {
  struct accumulator {
    T value;
    std::int64_t index;  // -1: none yet
  };
  /// Finds the value first and then its position: the compiler vectorises the loop over values.
  using value_reducer = extremum_reducer<T, Largest>;
  std::int64_t* result;

  /// Whether a value is the extremum of two that differ; without a branch.
  DEVPLACE_HD static constexpr bool precedes(T x, T y) {
    const unsigned x_is_nan = x != x, y_is_nan = y != y, beyond = Largest ? x > y : x < y;
    return (beyond | (x_is_nan & ~y_is_nan)) != 0;
  }
  DEVPLACE_HD static constexpr accumulator identity() { return {T{}, -1}; }
  DEVPLACE_HD static constexpr void add(accumulator& a, T x, std::size_t position) {
    merge(a, {x, static_cast<std::int64_t>(position)});
  }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) {
    if (b.index < 0) return;
    if (a.index < 0 || precedes(b.value, a.value) || (!precedes(a.value, b.value) && b.index < a.index)) a = b;
  }
  DEVPLACE_HD void store(std::size_t output, accumulator a) const { result[output] = a.index; }
};

template <class Reducer, std::size_t Rank> struct strided_reducer : Reducer {
  std::size_t extents[Rank == 0 ? 1 : Rank];
  std::ptrdiff_t strides[Rank == 0 ? 1 : Rank];

  DEVPLACE_HD void store(std::size_t output, typename Reducer::accumulator a) const {
    Reducer first = *this;
    for (std::size_t axis = Rank; axis-- > 0; output /= extents[axis])
      first.result += static_cast<std::ptrdiff_t>(output % extents[axis]) * strides[axis];
    first.store(0, a);
  }
};

// The operations of the reductions of ops/reduce.hpp. Each defines the kind of reduction in the algebra of placements,
// the result's element type, and the reducer that computes a result from `count` elements on one place.

inline void require_elements(const char* operation, std::size_t count) {
  if (count == 0)
    throw argument_error({operation, ": there are no elements along the reduced axis, and so there is no ", operation,
                          "; test the extent first."});
}

struct sum_operation {
  static constexpr reducing kind = reducing::sum;
  template <class T> using result = sum_result_t<T>;
  bool accumulate = false;
  template <class T, class Result> auto reducer(Result* sums, std::size_t) const {
    return sum_reducer<T, Result>{sums, static_cast<Result>(accumulate ? 1 : 0)};
  }
};
struct mean_operation {
  static constexpr reducing kind = reducing::mean;
  template <class T> using result = T;
  template <class T, class Result> static auto reducer(Result* means, std::size_t count) {
    return mean_reducer<T, Result>{means, static_cast<double>(count)};
  }
};
template <bool Largest> struct extremum_operation {
  static constexpr reducing kind = Largest ? reducing::max : reducing::min;
  template <class T> using result = T;
  template <class T> static auto reducer(T* result, std::size_t count) {
    require_elements(Largest ? "max" : "min", count);
    return extremum_reducer<T, Largest>{result};
  }
};
template <bool Largest> struct position_operation {
  static constexpr reducing kind = reducing::position;
  template <class T> using result = std::int64_t;
  template <class T> static auto reducer(std::int64_t* result, std::size_t count) {
    require_elements(Largest ? "argmax" : "argmin", count);
    return extremum_position_reducer<T, Largest>{result};
  }
};

struct product_operation {
  static constexpr reducing kind = reducing::function;
  template <class T> using result = sum_result_t<T>;
  template <class T> static auto reducer(sum_result_t<T>* result, std::size_t) { return product_reducer<T>{result}; }
};
template <nonzero Wanted> struct nonzero_operation {
  static constexpr reducing kind = Wanted == nonzero::number ? reducing::sum_of_function
                                   : Wanted == nonzero::any  ? reducing::max_of_function
                                                             : reducing::min_of_function;
  template <class T> using result = typename nonzero_reducer<T, Wanted>::result_type;
  template <class T> static auto reducer(result<T>* result, std::size_t count) {
    return nonzero_reducer<T, Wanted>{result, static_cast<std::int64_t>(count)};
  }
};

}  // namespace devplace::detail
