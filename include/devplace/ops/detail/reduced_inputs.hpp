// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>

namespace devplace::detail {

/// The arrays from which a source of a reduction computes its elements, for kernels that load several elements at a
/// time. A source's `inputs()` returns the arrays. Its `from_inputs(a)` or `from_inputs(a, b)` computes an element from
/// the arrays' elements with the same index.
template <class A> struct one_input {
  const A* a;
};
template <class A, class B> struct two_inputs {
  const A* a;
  const B* b;
};

/// Whether every reduction_plan of this source and reducer has a single result (outer and inner 1).
template <class Source, class Reducer>
inline constexpr bool reduces_all = requires { Reducer::reduces_all; } || requires { Source::reduces_all; };

/// Whether every reduction_plan of this source and reducer has inner 1.
template <class Source, class Reducer>
inline constexpr bool reduces_only_along = reduces_all<Source, Reducer> || requires { Source::has_only_runs; };

/// Returns the functor for the elements that are reduced to one result.
template <class Source> DEVPLACE_HD constexpr auto elements_of_result(const Source& source, std::size_t result) {
  if constexpr (requires { source.of_result(result); })
    return source.of_result(result);
  else
    return source;
}

template <class T> struct element_source {
  const T* data;
  DEVPLACE_HD T operator()(std::size_t i) const { return data[i]; }
  DEVPLACE_HD one_input<T> inputs() const { return {data}; }
  DEVPLACE_HD static T from_inputs(T x) { return x; }
};

/// Computes a function of an element in memory and of a statistic, such as the mean, of all elements that are reduced
/// to the same result.
template <class T, class Statistic, class Function> struct statistic_source {
  struct elements {
    const T* data;
    Statistic statistic;

    DEVPLACE_HD auto operator()(std::size_t i) const { return Function{}(data[i], statistic); }
    DEVPLACE_HD one_input<T> inputs() const { return {data}; }
    DEVPLACE_HD auto from_inputs(T x) const { return Function{}(x, statistic); }
  };
  const T* data;
  const Statistic* statistics;

  DEVPLACE_HD elements of_result(std::size_t result) const { return {data, statistics[result]}; }
};

}  // namespace devplace::detail
