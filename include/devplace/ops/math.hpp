// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

// The table of the functors behind the functions below, for host and devices. Each macro makes functors of one form; a
// new function is one line in the table and one below.
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

struct fmod {
  template <class T> DEVPLACE_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return b == T{0} ? T{0} : minus{}(a, times{}(divide{}(a, b), b));  // a % -1 traps for the lowest number
    else
      return std::fmod(a, b);
  }
};

/// The remainder that has the sign of b; a floating-point 0 has that sign too.
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

// Further elementwise functions: expressions like those of ops/elementwise.hpp, with the same rules for operands,
// placements and 16-bit elements. Names and special values are NumPy's. The functions down to hypot take floating-point
// elements, and call the C library or CUDA. The errors stated are those of glibc on the CPU.
namespace devplace {

/// Sine and cosine (within 1 ulp) and tangent (within 2 ulp) of radians, also of large ones; NaN for infinities.
///@{
DEVPLACE_DETAIL_UNARY(sin, detail::unary<detail::elementary::sin>);
DEVPLACE_DETAIL_UNARY(cos, detail::unary<detail::elementary::cos>);
DEVPLACE_DETAIL_UNARY(tan, detail::unary<detail::elementary::tan>);
///@}
/// Inverse sine, cosine and tangent within 1 ulp: from -pi/2 to pi/2, from 0 to pi, and from -pi/2 to pi/2. asin and
/// acos are NaN outside of -1 to 1.
///@{
DEVPLACE_DETAIL_UNARY(asin, detail::unary<detail::elementary::asin>);
DEVPLACE_DETAIL_UNARY(acos, detail::unary<detail::elementary::acos>);
DEVPLACE_DETAIL_UNARY(atan, detail::unary<detail::elementary::atan>);
///@}
/// The angle of the point (x, y), `atan2(y, x)`, from -pi to pi within 2 ulp.
DEVPLACE_DETAIL_BINARY(atan2, detail::binary<detail::elementary::atan2>);
/// Hyperbolic sine and cosine, within 2 ulp.
///@{
DEVPLACE_DETAIL_UNARY(sinh, detail::unary<detail::elementary::sinh>);
DEVPLACE_DETAIL_UNARY(cosh, detail::unary<detail::elementary::cosh>);
///@}
/// 2 to the power x, within 1 ulp.
DEVPLACE_DETAIL_UNARY(exp2, detail::unary<detail::elementary::exp2>);
/// Logarithms to the bases 2 (within 1 ulp) and 10 (within 3 ulp); -infinity for 0, NaN for negative numbers.
///@{
DEVPLACE_DETAIL_UNARY(log2, detail::unary<detail::elementary::log2>);
DEVPLACE_DETAIL_UNARY(log10, detail::unary<detail::elementary::log10>);
///@}
/// log(1 + x) within 1 ulp, also for small x; -infinity for -1, NaN below.
DEVPLACE_DETAIL_UNARY(log1p, detail::unary<detail::elementary::log1p>);
/// sqrt(a * a + b * b) within 1 ulp, without overflow of the squares; infinity if either is infinite.
DEVPLACE_DETAIL_BINARY(hypot, detail::binary<detail::elementary::hypot>);

/// The largest whole number <= x, the smallest >= x, the nearest (of two, the even one) and the next towards 0.
/// Integers stay as they are.
///@{
DEVPLACE_DETAIL_UNARY(floor, detail::unary<detail::elementary::floor>);
DEVPLACE_DETAIL_UNARY(ceil, detail::unary<detail::elementary::ceil>);
DEVPLACE_DETAIL_UNARY(round, detail::unary<detail::elementary::round>);
DEVPLACE_DETAIL_UNARY(trunc, detail::unary<detail::elementary::trunc>);
///@}
/// -1, 0 or 1; NaN for NaN.
DEVPLACE_DETAIL_UNARY(sign, detail::unary<detail::elementary::sign>);
/// a - b trunc(a / b), which has the sign of a, as fmod in C. If b is 0: NaN, or 0 for integers.
DEVPLACE_DETAIL_BINARY(fmod, detail::binary<detail::elementary::fmod>);
/// a - b floor(a / b), which has the sign of b, as Python's %. If b is 0: NaN, or 0 for integers.
DEVPLACE_DETAIL_BINARY(remainder, detail::binary<detail::elementary::remainder>);

/// Whether floating-point elements are NaN, infinite, or neither: 1 or 0, as uint8. -ffast-math changes nothing.
///@{
DEVPLACE_DETAIL_UNARY(isnan, detail::unary<detail::elementary::isnan>);
DEVPLACE_DETAIL_UNARY(isinf, detail::unary<detail::elementary::isinf>);
DEVPLACE_DETAIL_UNARY(isfinite, detail::unary<detail::elementary::isfinite>);
///@}

/// Logic of elements of any type, such as comparisons: 1 or 0, as uint8. All elements but 0 are true, NaN too.
///@{
DEVPLACE_DETAIL_BINARY(logical_and, detail::binary<detail::elementary::logical_and>);
DEVPLACE_DETAIL_BINARY(logical_or, detail::binary<detail::elementary::logical_or>);
DEVPLACE_DETAIL_BINARY(logical_xor, detail::binary<detail::elementary::logical_xor>);
DEVPLACE_DETAIL_UNARY(logical_not, detail::unary<detail::elementary::logical_not>);
///@}

/// minimum(maximum(x, low), high): NaN stays NaN, and if low > high the result is high. The bounds are numbers or
/// operands.
template <detail::operand_type X, detail::accepted_argument Low, detail::accepted_argument High>
constexpr auto clamp(X&& x, Low&& low, High&& high) {
  auto raised = detail::binary<detail::elementary::maximum>(std::forward<X>(x), std::forward<Low>(low));
  if constexpr (std::is_same_v<decltype(raised), detail::refusal>)
    return raised;
  else
    return detail::binary<detail::elementary::minimum>(std::move(raised), std::forward<High>(high));
}

}  // namespace devplace
