// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/ops/detail/exponential.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// Whether the exponentials of a row's elements replace the elements in registers, for a second use. They would lose
/// digits in elements of 16 bits.
template <class T, class Access, class Values>
inline constexpr bool keeps_exponentials = Access::reads_once && std::is_same_v<typename Values::value_type, T>;

/// The maximum of those elements of a row that are not NaN, for sums over x - maximum. If the row is read once, its
/// maximum is known before the sums begin. Otherwise one pass computes maximum and sums (Milakov and Gimelshein 2018):
/// a thread uses the maximum of the elements that it has read so far, and corrects its sums when this maximum grows.
template <class T, bool ReadsOnce> struct row_maximum {
  T max = -infinity<T>;
  T shift = 0;  ///< what sums subtract: the maximum, or 0 while a longer row's maximum is -infinity

  /// Takes part of a row into account. If sums need a correction, calls rescale(factor, difference): sums of
  /// exp(x - shift) change by the factor, and each x - shift by the difference.
  template <class Group, class Part, class Rescale>
  DEVPLACE_DEVICE void include(const Group& group, const Part& part, const Rescale& rescale) {
    T largest = max;
    part.each([&largest](std::size_t, T v) { largest = v > largest ? v : largest; });
    if constexpr (ReadsOnce)
      max = shift = group.all_reduce(largest, take_larger{});
    else if (largest > max)
      replace(largest, rescale);
  }

  /// Replaces the maximum of a thread's elements by the row's.
  template <class Group, class Rescale> DEVPLACE_DEVICE void combine(const Group& group, const Rescale& rescale) {
    if constexpr (!ReadsOnce) replace(group.all_reduce(max, take_larger{}), rescale);
  }

 private:
  template <class Rescale> DEVPLACE_DEVICE void replace(T largest, const Rescale& rescale) {
    // Elements that are -infinity remain so.
    rescale(fast_exp<T>(max - largest), max == -infinity<T> ? T{0} : max - largest);
    max = shift = largest;
  }
};

}  // namespace devplace::detail
