// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/base/error.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/place/algebra.hpp>

// The operations of the reductions of ops/reduce.hpp. Each defines the kind of reduction in the algebra of placements,
// the result's element type, and the reducer that computes a result from `count` elements on one place.

namespace devplace::detail {

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
