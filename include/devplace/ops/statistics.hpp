// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/exponential.hpp>
#include <devplace/ops/detail/logarithm.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/place/algebra.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace {

// Norms, variances and logarithms of sums of exponentials, of floating-point elements. These reductions are like those
// of reduce.hpp: of all elements or along axes, `norm(x, axis<1>{})`, in double, with bits that do not depend on the
// number of threads. variance, standard_deviation and logsumexp read the elements twice and allocate a number per
// result as workspace.

/// Order of the norm that is the largest absolute value: `norm<infinite_order>(x)`.
inline constexpr unsigned infinite_order = ~0U;

}  // namespace devplace

namespace devplace::detail {

template <class T, unsigned Order> struct norm_reducer {
  static constexpr unsigned least_blocks = 1;  // see backend/cuda/kernels/reduce.hpp
  using accumulator = double;
  T* result;

  DEVPLACE_HD static constexpr accumulator identity() { return 0; }
  DEVPLACE_HD static void add(accumulator& a, T x, std::size_t) {
    const auto value = static_cast<double>(x);
    merge(a, Order == 2 ? value * value : std::fabs(value));
  }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) {
    if constexpr (Order == infinite_order)
      extremum_reducer<double, true>::merge(a, b);
    else
      a += b;
  }
  DEVPLACE_HD void store(std::size_t output, accumulator a) const {
    result[output] = static_cast<T>(Order == 2 ? std::sqrt(a) : a);
  }
};

template <unsigned Order> struct norm_operation {
  static constexpr bool floating_only = true;
  static constexpr reducing kind = Order == 1                ? reducing::sum_of_function
                                   : Order == infinite_order ? reducing::max_of_function
                                                             : reducing::function;
  template <class T> using result = T;
  template <class T> static auto reducer(T* result, std::size_t) { return norm_reducer<T, Order>{result}; }
};

struct squared_deviation {
  template <class T> DEVPLACE_HD double operator()(T x, double mean) const {
    const double deviation = static_cast<double>(x) - mean;
    return deviation * deviation;
  }
};

/// The sum of squared deviations divided by `count`, or the square root of this quotient.
template <class T, bool Root> struct variance_reducer : mean_reducer<double, T> {
  DEVPLACE_HD void store(std::size_t output, double sum) const {
    this->result[output] = static_cast<T>(Root ? std::sqrt(sum / this->count) : sum / this->count);
  }
};

template <bool Root, std::size_t Correction> struct variance_operation {
  static constexpr bool floating_only = true;
  static constexpr reducing kind = reducing::function;
  template <class T> using result = T;
  template <class T> using statistic = double;
  using function = squared_deviation;

  template <class T> static auto first_reducer(double* means, std::size_t count) {
    return mean_reducer<T, double>{means, static_cast<double>(count)};
  }
  template <class T> static auto reducer(T* result, const double*, std::size_t count) {
    return variance_reducer<T, Root>{{result, count > Correction ? static_cast<double>(count - Correction) : 0}};
  }
};

/// Stores the largest element, which is subtracted from all elements, or 0 if the largest element is not finite.
template <class T> struct shift_reducer : extremum_reducer<T, true> {
  using accumulator = typename extremum_reducer<T, true>::accumulator;

  DEVPLACE_HD void store(std::size_t output, accumulator a) const { this->result[output] = T(is_finite(a) ? a : 0); }
};

struct shifted_exponential {
  template <class T> [[gnu::always_inline]] DEVPLACE_HD auto operator()(T x, T shift) const {
    return fast_exp(static_cast<computed_t<T>>(x) - static_cast<computed_t<T>>(shift));
  }
};

template <class T> struct logsumexp_reducer {
  static constexpr unsigned least_blocks = 1;  // see backend/cuda/kernels/reduce.hpp
  using accumulator = double;
  T* result;
  const T* shifts;

  DEVPLACE_HD static constexpr accumulator identity() { return 0; }
  DEVPLACE_HD static constexpr void add(accumulator& a, computed_t<T> x, std::size_t) { a += static_cast<double>(x); }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) { a += b; }
  DEVPLACE_HD void store(std::size_t output, accumulator a) const {
    result[output] = static_cast<T>(static_cast<double>(shifts[output]) + fast_log(a));
  }
};

struct logsumexp_operation {
  static constexpr bool floating_only = true;
  static constexpr reducing kind = reducing::function;
  template <class T> using result = T;
  template <class T> using statistic = T;
  using function = shifted_exponential;

  template <class T> static auto first_reducer(T* shifts, std::size_t) { return shift_reducer<T>{{shifts}}; }
  template <class T> static auto reducer(T* result, const T* shifts, std::size_t) {
    return logsumexp_reducer<T>{result, shifts};
  }
};

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The norm of all elements, or of the elements along given axes, taken as a vector: `norm(x)` is the square root of
/// the sum of squares, `norm<1>(x)` the sum of absolute values, `norm<infinite_order>(x)` the largest absolute value.
/// The norm of no elements is 0. Squares of floats are added in double, so that only a norm above float's range is
/// infinite.
template <unsigned Order = 2, class... Axes, detail::reduction_call<Axes...> X> auto norm(X&& x, const Axes&... axes) {
  constexpr bool known = Order == 1 || Order == 2 || Order == infinite_order;
  static_assert(known, "devplace: norm: the order is 1, 2 or infinite_order.");
  if constexpr (known)
    return detail::reduced<detail::norm_operation<Order>>(std::forward<X>(x), axes...);
  else
    return detail::refusal{};
}

/// The sum of squared deviations from the mean, divided by the number of elements minus Correction. `variance(x)` is
/// the estimate from a sample, the default of torch.var; `variance<0>(x)` is the mean, the default of numpy.var.
/// Divides by 0 if there are no more than Correction elements. Subtracts the mean first, so that large means cost no
/// digits.
template <std::size_t Correction = 1, class... Axes, detail::reduction_call<Axes...> X>
auto variance(X&& x, const Axes&... axes) {
  return detail::reduced<detail::variance_operation<false, Correction>>(std::forward<X>(x), axes...);
}

/// The square root of variance.
template <std::size_t Correction = 1, class... Axes, detail::reduction_call<Axes...> X>
auto standard_deviation(X&& x, const Axes&... axes) {
  return detail::reduced<detail::variance_operation<true, Correction>>(std::forward<X>(x), axes...);
}

/// log(sum(exp(x))) without overflow: the largest element is subtracted first. -infinity without elements.
template <class... Axes, detail::reduction_call<Axes...> X> auto logsumexp(X&& x, const Axes&... axes) {
  return detail::reduced<detail::logsumexp_operation>(std::forward<X>(x), axes...);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
