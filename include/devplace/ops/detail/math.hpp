// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

// The table of the functors behind ops/math.hpp, for host and devices. Each macro makes functors of one form; a new
// function is one line here and one in ops/math.hpp.
namespace devplace::detail::elementary {

// The standard library's functions of floating-point numbers; on devices, CUDA's.
#define DEVPLACE_DETAIL_STANDARD(name)                                                          \
  struct name {                                                                                 \
    static constexpr bool floating_only = true;                                                 \
    template <class... T> DEVPLACE_HD auto operator()(T... x) const { return std::name(x...); } \
  }
DEVPLACE_DETAIL_STANDARD(sin);
DEVPLACE_DETAIL_STANDARD(cos);
DEVPLACE_DETAIL_STANDARD(tan);
DEVPLACE_DETAIL_STANDARD(asin);
DEVPLACE_DETAIL_STANDARD(acos);
DEVPLACE_DETAIL_STANDARD(atan);
DEVPLACE_DETAIL_STANDARD(atan2);
DEVPLACE_DETAIL_STANDARD(sinh);
DEVPLACE_DETAIL_STANDARD(cosh);
DEVPLACE_DETAIL_STANDARD(exp2);
DEVPLACE_DETAIL_STANDARD(log2);
DEVPLACE_DETAIL_STANDARD(log10);
DEVPLACE_DETAIL_STANDARD(log1p);
DEVPLACE_DETAIL_STANDARD(hypot);
#undef DEVPLACE_DETAIL_STANDARD

// Functions that return integers unchanged.
#define DEVPLACE_DETAIL_ROUNDING(name, function)             \
  struct name {                                              \
    template <class T> DEVPLACE_HD T operator()(T x) const { \
      if constexpr (std::is_integral_v<T>)                   \
        return x;                                            \
      else                                                   \
        return function(x);                                  \
    }                                                        \
  }
DEVPLACE_DETAIL_ROUNDING(floor, std::floor);
DEVPLACE_DETAIL_ROUNDING(ceil, std::ceil);
DEVPLACE_DETAIL_ROUNDING(round, std::rint);
DEVPLACE_DETAIL_ROUNDING(trunc, std::trunc);
#undef DEVPLACE_DETAIL_ROUNDING

// Tests of floating-point numbers by their bits.
#define DEVPLACE_DETAIL_CLASS(name, condition)                                              \
  struct name {                                                                             \
    static constexpr bool floating_only = true;                                             \
    template <class T> DEVPLACE_HD std::uint8_t operator()(T x) const { return condition; } \
  }
DEVPLACE_DETAIL_CLASS(isnan, is_nan(x));
DEVPLACE_DETAIL_CLASS(isinf, magnitude_bits(x) == infinity_bits<T>);
DEVPLACE_DETAIL_CLASS(isfinite, is_finite(x));
#undef DEVPLACE_DETAIL_CLASS

// Logic of elements, of which all but 0 are true.
#define DEVPLACE_DETAIL_LOGIC(name, sign)                                              \
  struct name {                                                                        \
    template <class T> DEVPLACE_HD constexpr std::uint8_t operator()(T a, T b) const { \
      const bool first = a != T{0}, second = b != T{0};                                \
      return first sign second;                                                        \
    }                                                                                  \
  }
DEVPLACE_DETAIL_LOGIC(logical_and, &&);
DEVPLACE_DETAIL_LOGIC(logical_or, ||);
DEVPLACE_DETAIL_LOGIC(logical_xor, !=);
#undef DEVPLACE_DETAIL_LOGIC

struct logical_not {
  template <class T> DEVPLACE_HD constexpr std::uint8_t operator()(T x) const { return x == T{0}; }
};

/// x < 0; compilers warn of this comparison for unsigned integers.
template <class T> DEVPLACE_HD constexpr bool is_negative(T x) {
  if constexpr (std::is_unsigned_v<T>)
    return false;
  else
    return x < T{0};
}

/// NaN for NaN, and +0 for -0.
struct sign {
  template <class T> DEVPLACE_HD constexpr T operator()(T x) const {
    return x != x ? x : static_cast<T>((T{0} < x) - is_negative(x));
  }
};

/// Of integers, 0 if b is 0.
struct fmod {
  template <class T> DEVPLACE_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return b == T{0} ? T{0} : minus{}(a, times{}(divide{}(a, b), b));  // a % -1 traps for the lowest number
    else
      return std::fmod(a, b);
  }
};

/// fmod moved to the sign of b, also for a result of 0.
struct remainder {
  template <class T> DEVPLACE_HD T operator()(T a, T b) const {
    const T rest = fmod{}(a, b);
    if constexpr (!std::is_integral_v<T>) {
      if (rest == T{0}) return std::copysign(rest, b);
    }
    return rest != T{0} && is_negative(rest) != is_negative(b) ? plus{}(rest, b) : rest;
  }
};

}  // namespace devplace::detail::elementary
