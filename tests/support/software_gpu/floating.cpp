// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <bit>
#include <cfenv>
#include <cmath>

#include "support/software_gpu/lanes.hpp"

// Arithmetic of float and double. Approximations are computed exactly and rounded.

namespace devplace::test::software_gpu {

namespace {

/// F with the NaN that hardware returns for every NaN result of 32 bits; double keeps the payload.
template <class F> struct with_canonical_nan {
  template <class T, class... More> T operator()(T a, More... more) const {
    const T x = F{}(a, more...);
    if constexpr (sizeof(T) == 4)
      return x == x ? x : std::bit_cast<float>(0x7fffffffU);
    else
      return x;
  }
};
template <class F> with_canonical_nan<F> canonical(F) { return {}; }

/// F on double, rounded; .ftz replaces denormal operands and results by zero of their sign.
template <class F, bool Flush> struct approximation {
  static float flushed(float x) { return Flush && std::abs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }
  template <class... T> float operator()(T... x) const {
    return flushed(static_cast<float>(F{}(static_cast<double>(flushed(x))...)));
  }
};
template <class... T, class F> void add_approximation(operation_table& table, const std::string& name, F) {
  add<float, T...>(table, name + ".approx", canonical(approximation<F, false>{}));
  add<float, T...>(table, name + ".approx.ftz", canonical(approximation<F, true>{}));
}

/// The approximations of double have no bits in their lower half; nvcc improves them by Newton's method.
double without_lower_half(double x) { return std::bit_cast<double>(std::bit_cast<u64>(x) >> 32 << 32); }

/// Adds F, rounded towards zero.
template <class... T, class F> void add_towards_zero(operation_table& table, const std::string& name, F) {
  const auto run = [](execution& e, const instruction& i) {
    std::fesetround(FE_TOWARDZERO);
    elementwise<with_canonical_nan<F>, float, T...>(e, i);
    std::fesetround(FE_TONEAREST);
  };
  table[name + ".rz.f32"] = {run, {static_cast<u8>(sizeof(T))...}};
}

template <bool Maximum> struct extremum {
  template <class T> T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    if (a == b) return std::signbit(a) == Maximum ? b : a;  // -0 is below 0
    return (a > b) == Maximum ? a : b;
  }
};

}  // namespace

void add_floating_operations(operation_table& table) {
  const auto sum = [](auto a, auto b) { return a + b; };
  const auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
  const auto quotient = [](auto a, auto b) { return a / b; };
  const auto reciprocal = [](auto a) { return 1 / a; };
  add_binary<float, double>(table, "add", canonical(sum)), add_ternary<float, double>(table, "fma", canonical(fused));
  add_binary<float, double>(table, "sub", canonical([](auto a, auto b) { return a - b; }));
  add_binary<float, double>(table, "mul", canonical([](auto a, auto b) { return a * b; }));
  add_binary<float, double>(table, "div", canonical(quotient));
  add_unary<float, double>(table, "rcp", canonical(reciprocal));
  add_unary<float, double>(table, "sqrt", canonical([](auto a) { return std::sqrt(a); }));
  add_binary<float, double>(table, "min", canonical(extremum<false>{}));
  add_binary<float, double>(table, "max", canonical(extremum<true>{}));
  add_unary<float, double>(table, "neg", [](auto a) { return -a; });
  add_unary<float, double>(table, "abs", [](auto a) { return std::abs(a); });
  add_binary<float, double>(table, "copysign", [](auto a, auto b) { return std::copysign(b, a); });
  add_towards_zero<float, float>(table, "add", sum), add_towards_zero<float, float, float>(table, "fma", fused);

  add_approximation<float, float>(table, "div", quotient), add_approximation<float>(table, "rcp", reciprocal);
  add_approximation<float>(table, "rsqrt", [](double a) { return 1 / std::sqrt(a); });
  add_approximation<float>(table, "ex2", [](double a) { return std::exp2(a); });
  add_unary<double>(table, "rcp.approx.ftz", [](double a) { return without_lower_half(1 / a); });
  add_unary<double>(table, "rsqrt.approx.ftz", [](double a) { return without_lower_half(1 / std::sqrt(a)); });
}

}  // namespace devplace::test::software_gpu
