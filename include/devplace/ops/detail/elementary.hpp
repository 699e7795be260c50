// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/exponential.hpp>
#include <devplace/ops/detail/logarithm.hpp>
#include <devplace/ops/detail/normal_distribution.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/dtype.hpp>

// Functors of the elementwise operations, for host and devices. Every case is defined, as ops/elementwise.hpp states.
namespace devplace::detail::elementary {

/// Found for all functors of this namespace, and for no functor of a user's.
void is_elementary(const auto&);

/// The type in which sums, differences and products of integers are computed: unsigned, so that wrapping is defined.
template <class T>
using wrapping_t =
    std::conditional_t<std::is_integral_v<T>, std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>, T>;

#define DEVPLACE_DETAIL_WRAPPING(name, sign)                                                   \
  struct name {                                                                                \
    template <class T> DEVPLACE_HD constexpr T operator()(T a, T b) const {                    \
      return static_cast<T>(static_cast<wrapping_t<T>>(a) sign static_cast<wrapping_t<T>>(b)); \
    }                                                                                          \
  }
DEVPLACE_DETAIL_WRAPPING(plus, +);
DEVPLACE_DETAIL_WRAPPING(minus, -);
DEVPLACE_DETAIL_WRAPPING(times, *);
#undef DEVPLACE_DETAIL_WRAPPING

struct divide {
  template <class T> DEVPLACE_HD constexpr T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == T{0}) return T{0};
      if constexpr (std::is_signed_v<T>) {
        if (b == T{-1}) return minus{}(T{0}, a);  // the negative of the lowest number overflows
      }
    }
    return static_cast<T>(a / b);
  }
};

struct power {
  static constexpr bool floating_only = true;

  template <class T> DEVPLACE_HD T operator()(T a, T b) const { return std::pow(a, b); }
};

struct maximum {
  template <class T> DEVPLACE_HD constexpr T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};

struct minimum {
  template <class T> DEVPLACE_HD constexpr T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};

#define DEVPLACE_DETAIL_COMPARISON(name, sign)                                                            \
  struct name {                                                                                           \
    template <class T> DEVPLACE_HD constexpr std::uint8_t operator()(T a, T b) const { return a sign b; } \
  }
DEVPLACE_DETAIL_COMPARISON(equal, ==);
DEVPLACE_DETAIL_COMPARISON(not_equal, !=);
DEVPLACE_DETAIL_COMPARISON(less, <);
DEVPLACE_DETAIL_COMPARISON(less_equal, <=);
DEVPLACE_DETAIL_COMPARISON(greater, >);
DEVPLACE_DETAIL_COMPARISON(greater_equal, >=);
#undef DEVPLACE_DETAIL_COMPARISON

struct select {
  template <class T> DEVPLACE_HD T operator()(std::uint8_t condition, T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return chosen(condition != 0, a, b);
    else
      return condition != 0 ? a : b;
  }
};

struct negate {
  template <class T> DEVPLACE_HD constexpr T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return minus{}(T{0}, x);
    else
      return -x;  // 0 - x would lose the sign of zero
  }
};

struct absolute {
  template <class T> DEVPLACE_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else
      return x < T{0} ? negate{}(x) : x;
  }
};

struct square {
  template <class T> DEVPLACE_HD constexpr T operator()(T x) const { return times{}(x, x); }
};

struct relu {
  template <class T> DEVPLACE_HD T operator()(T x) const { return select{}(x < T{0}, T{0}, x); }
};

#define DEVPLACE_DETAIL_FUNCTION(name, function)                                                          \
  struct name {                                                                                           \
    static constexpr bool floating_only = true;                                                           \
    static constexpr bool computes_much = true;                                                           \
    template <class T> [[gnu::always_inline]] DEVPLACE_HD T operator()(T x) const { return function(x); } \
  }
DEVPLACE_DETAIL_FUNCTION(exponential, fast_exp);
DEVPLACE_DETAIL_FUNCTION(logarithm, fast_log);
DEVPLACE_DETAIL_FUNCTION(square_root, std::sqrt);
DEVPLACE_DETAIL_FUNCTION(hyperbolic_tangent, fast_tanh);
DEVPLACE_DETAIL_FUNCTION(exponential_minus_one, fast_expm1);
DEVPLACE_DETAIL_FUNCTION(error_function, fast_erf);
#undef DEVPLACE_DETAIL_FUNCTION

/// 1 / (1 + exp(-x)) by exp(-|x|), which never overflows, so that small results are accurate, too.
struct sigmoid {
  static constexpr bool floating_only = true, computes_much = true;

  template <class T> [[gnu::always_inline]] DEVPLACE_HD T operator()(T x) const {
    const exponential_quotient<T> e(-std::fabs(limited_to(exponential_constants<T>::limit, x)));
    return chosen(x < T{0}, e.numerator(), e.denominator) / (e.denominator + e.numerator());
  }
};

template <class To> struct convert {
  template <class From> DEVPLACE_HD constexpr To operator()(From x) const {
    if constexpr (storage_element<From> && std::is_integral_v<To>) return (*this)(static_cast<float>(x));
    if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
      // The lowest value is exact: 0 or a power of two. The highest may be inexact, so its successor is compared.
      constexpr From from_lowest = static_cast<From>(lowest_number<To>);
      constexpr From past_highest = From{2} * static_cast<From>(highest_number<To> / 2 + 1);
      if (x != x) return To{0};
      if (x <= from_lowest) return lowest_number<To>;
      if (x >= past_highest) return highest_number<To>;
    }
    return static_cast<To>(x);
  }
};

/// Computes F in float, for elements of storage types and numbers. Rounds the result to T unless F is a comparison.
template <class F, storage_element T> struct in_float {
  static constexpr bool computes_much = true;  // the conversions

  template <class... X> [[gnu::always_inline]] DEVPLACE_HD constexpr auto operator()(X... x) const {
    const auto result = F{}(static_cast<float>(x)...);
    if constexpr (std::is_same_v<decltype(result), const float>)
      return T(result);
    else
      return result;
  }
};

}  // namespace devplace::detail::elementary
