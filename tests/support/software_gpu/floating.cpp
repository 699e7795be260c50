// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <bit>
#include <cmath>
#include <limits>

#include "support/software_gpu/lanes.hpp"

// Arithmetic of float, double, half, bfloat16 and pairs of the latter two. The executor sets the rounding mode of the
// CPU; approximations are computed exactly and rounded.

namespace devplace::test::software_gpu {

namespace {

/// Hardware returns this NaN for every NaN result of at most 32 bits; double keeps the payload.
template <class T> T canonical(T x) {
  if constexpr (std::is_same_v<T, float>)
    return x == x ? x : std::bit_cast<float>(0x7fffffffU);
  else
    return x;
}

/// Returns a * b + c with one rounding. Numbers of 16 bits: the product is exact in double, and the sum is rounded to
/// odd, so that the second rounding sees whether it was exact.
float multiply_add(float a, float b, float c) { return std::fma(a, b, c); }
double multiply_add(double a, double b, double c) { return std::fma(a, b, c); }
double multiply_add_odd(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  const double part = sum - product, error = (product - (sum - part)) + (c - part);
  if (error == 0 || !std::isfinite(sum) || (std::bit_cast<u64>(sum) & 1) != 0) return sum;
  return std::nextafter(sum,
                        error > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
}

/// Makes an operation of all types from one of float and double.
template <class F> struct on_numbers {
  template <class T, class... More> T operator()(T a, More... more) const {
    if constexpr (is_pair<T>)
      return {(*this)(a.low, more.low...), (*this)(a.high, more.high...)};
    else if constexpr (is_small_float<T>)
      return T(F{}(static_cast<double>(a), static_cast<double>(more)...));
    else
      return canonical(F{}(a, more...));
  }
};
/// Applies F, which computes in double, to a number or to each number of a pair, and rounds the result once.
template <class F> struct approximate {
  template <class T> T operator()(T a) const {
    if constexpr (is_pair<T>)
      return {(*this)(a.low), (*this)(a.high)};
    else if constexpr (std::is_same_v<T, float>)
      return canonical(static_cast<float>(F{}(static_cast<double>(a))));
    else
      return T(F{}(static_cast<double>(a)));
  }
};
struct fused {
  template <class T> T operator()(T a, T b, T c) const {
    if constexpr (is_pair<T>)
      return {(*this)(a.low, b.low, c.low), (*this)(a.high, b.high, c.high)};
    else if constexpr (is_small_float<T>)
      return T(multiply_add_odd(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
    else
      return canonical(multiply_add(a, b, c));
  }
};
struct fused_relu {
  template <class T> T operator()(T a, T b, T c) const {
    if constexpr (is_pair<T>) {
      return {(*this)(a.low, b.low, c.low), (*this)(a.high, b.high, c.high)};
    } else {
      const T x = fused{}(a, b, c);
      return static_cast<float>(x) <= 0 ? T() : x;
    }
  }
};
template <bool Maximum, bool KeepNaN> struct extremum {
  template <class T> T operator()(T a, T b) const {
    if constexpr (is_pair<T>) {
      return {(*this)(a.low, b.low), (*this)(a.high, b.high)};
    } else if constexpr (is_small_float<T>) {
      return T(extremum<Maximum, KeepNaN>{}(static_cast<float>(a), static_cast<float>(b)));
    } else {
      if (std::isnan(a) || std::isnan(b)) {
        if (KeepNaN || (std::isnan(a) && std::isnan(b))) return canonical(std::numeric_limits<T>::quiet_NaN());
        return std::isnan(a) ? b : a;
      }
      if (a == b) return std::signbit(a) == Maximum ? b : a;  // -0 is below 0
      return (a > b) == Maximum ? a : b;
    }
  }
};
/// Changes the sign bit: XOR with it after AND with all other bits, or not.
template <bool Clear> struct with_sign {
  template <class T> T operator()(T x) const {
    if constexpr (is_pair<T>) {
      return {(*this)(x.low), (*this)(x.high)};
    } else {
      using bits = std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>;
      constexpr bits sign = static_cast<bits>(bits{1} << (8 * sizeof(T) - 1));
      const bits all = std::bit_cast<bits>(x);
      return std::bit_cast<T>(static_cast<bits>(Clear ? all & ~sign : all ^ sign));
    }
  }
};

template <class F> on_numbers<F> numbers(F) { return {}; }
template <class F> approximate<F> rounded(F) { return {}; }

template <class... T> void add_for(operation_table& table) {
  add_binary<T...>(table, "add", numbers([](auto a, auto b) { return a + b; }));
  add_binary<T...>(table, "sub", numbers([](auto a, auto b) { return a - b; }));
  add_binary<T...>(table, "mul", numbers([](auto a, auto b) { return a * b; }));
  add_ternary<T...>(table, "fma", fused{}), add_ternary<T...>(table, "mad", fused{});
  add_unary<T...>(table, "neg", with_sign<false>{}), add_unary<T...>(table, "abs", with_sign<true>{});
  add_binary<T...>(table, "min", extremum<false, false>{}), add_binary<T...>(table, "max", extremum<true, false>{});
  add_binary<T...>(table, "min.NaN", extremum<false, true>{}),
      add_binary<T...>(table, "max.NaN", extremum<true, true>{});
}

template <class T> void add_tests(operation_table& table) {
  const auto add = [&](const char* name, auto test) {
    table[std::string("testp.") + name + name_of<T>()] = {[](execution& e, const instruction& i) {
                                                            const lanes_of<T> a(e, i.from[0]);
                                                            u8 truth[warp_size];
                                                            for (unsigned lane = 0; lane < warp_size; ++lane)
                                                              truth[lane] = decltype(test){}(a[lane]) ? 1 : 0;
                                                            e.set_predicate(i.to[0], packed_mask(truth));
                                                          },
                                                          0,
                                                          {sizeof(T)}};
  };
  add("finite", [](T a) { return std::isfinite(a); }), add("infinite", [](T a) { return std::isinf(a); });
  add("number", [](T a) { return !std::isnan(a); }), add("notanumber", [](T a) { return std::isnan(a); });
  add("normal", [](T a) { return std::isnormal(a); });
  add("subnormal", [](T a) { return std::fpclassify(a) == FP_SUBNORMAL; });
}

}  // namespace

void add_floating_operations(operation_table& table) {
  add_for<float, double, half, bfloat, pair<half>, pair<bfloat>>(table);
  add_ternary<half, bfloat, pair<half>, pair<bfloat>>(table, "fma.relu", fused_relu{});
  const auto quotient = numbers([](auto a, auto b) { return a / b; });
  add_binary<float, double>(table, "div", quotient), add_binary<float>(table, "div.full", quotient);
  add_unary<float, double>(table, "rcp", numbers([](auto a) { return 1 / a; }));
  add_unary<float, double>(table, "sqrt", numbers([](auto a) { return std::sqrt(a); }));
  // The approximation of a double's reciprocal has no bits in its lower half; nvcc improves it by Newton's method.
  add_unary<double>(table, "rcp.approx",
                    [](double a) { return std::bit_cast<double>(std::bit_cast<u64>(1 / a) >> 32 << 32); });
  add_unary<float, double>(table, "rsqrt", rounded([](double a) { return 1 / std::sqrt(a); }));
  add_unary<float>(table, "sin", rounded([](double a) { return std::sin(a); }));
  add_unary<float>(table, "cos", rounded([](double a) { return std::cos(a); }));
  add_unary<float>(table, "lg2", rounded([](double a) { return std::log2(a); }));
  add_unary<float, half, bfloat, pair<half>, pair<bfloat>>(table, "ex2",
                                                           rounded([](double a) { return std::exp2(a); }));
  add_unary<float, half, bfloat, pair<half>, pair<bfloat>>(table, "tanh",
                                                           rounded([](double a) { return std::tanh(a); }));
  add_binary<float, double>(table, "copysign", [](auto a, auto b) { return std::copysign(b, a); });
  add_tests<float>(table), add_tests<double>(table);
}

}  // namespace devplace::test::software_gpu
