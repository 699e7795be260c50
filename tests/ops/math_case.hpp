// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/ops/math.hpp>
#include <devplace/tensor/bf16.hpp>

#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/ulps.hpp"
#include "support/values_on.hpp"

// The functions of ops/math.hpp on any backend, compared with NumPy (tests/reference/make_elementwise.py).
namespace devplace::test::math_case {

template <class T> std::vector<T> numpy(const std::string& name) {
  const auto x = read_fixture<T, extents<dyn>>("elementwise/" + name);
  return {x.data(), x.data() + x.size()};
}

/// NumPy's bools are stored as int32.
inline std::vector<std::uint8_t> numpy_bytes(const std::string& name) {
  const auto x = numpy<std::int32_t>(name);
  std::vector<std::uint8_t> bytes(x.size());
  std::transform(x.begin(), x.end(), bytes.begin(),
                 [](std::int32_t value) { return static_cast<std::uint8_t>(value); });
  return bytes;
}

/// Whether numbers are equal: NaN equals NaN, and zeros have signs.
template <class T> bool same(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return a == b;
  else
    return std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b);
}

template <class T>
void check_equal(const std::string& name, const std::vector<T>& result, const std::vector<T>& expected) {
  INFO(name);
  REQUIRE(result.size() == expected.size());
  for (std::size_t i = 0; i != result.size(); ++i) {
    if (same(result[i], expected[i])) continue;
    INFO("element " << i << ": " << +result[i] << " where " << +expected[i] << " is due");
    CHECK(same(result[i], expected[i]));
  }
}

/// NumPy's results with more digits than T has.
template <class T> std::vector<wider<T>> numpy_digits(const std::string& name) {
  const auto high = numpy<double>(name);
  std::vector<wider<T>> exact(high.begin(), high.end());
  if constexpr (std::is_same_v<T, double>) {
    const auto rest = numpy<double>(name + "_rest");
    for (std::size_t i = 0; i != exact.size(); ++i)
      if (rest[i] != 0) exact[i] += static_cast<long double>(rest[i]);  // -0 + 0 is +0
  }
  return exact;
}

/// Checks results that are finite in T within `limit` ulp, and others exactly.
template <class T> void check_close(const std::string& name, const std::vector<T>& result, double limit) {
  INFO(name);
  const auto exact = numpy_digits<T>(name);
  REQUIRE(result.size() == exact.size());
  double worst = 0;
  for (std::size_t i = 0; i != result.size(); ++i) {
    const T rounded = static_cast<T>(exact[i]);
    if (!std::isfinite(rounded) || exact[i] == 0) {
      INFO("element " << i << ": " << result[i] << " where " << rounded << " is due");
      CHECK(same(result[i], rounded));
    } else {
      worst = larger(worst, ulps(result[i], exact[i]));
    }
  }
  CHECK(worst <= limit);
}

/// The functions of floating-point numbers: float or double.
template <class Backend, class T> void check_floating() {
  const std::string key = sizeof(T) == 4 ? "f32/" : "f64/";
  const auto x = numpy<T>(key + "x"), a = numpy<T>(key + "a"), b = numpy<T>(key + "b");
  const auto of_x = [&](const auto& formula) { return elements<Backend, T>(formula, x); };
  const auto of_two = [&](const auto& formula) { return elements<Backend, T>(formula, a, b); };
  const auto test_x = [&](const auto& formula) { return elements<Backend, std::uint8_t>(formula, x); };
  const auto test_two = [&](const auto& formula) { return elements<Backend, std::uint8_t>(formula, a, b); };
  constexpr double limit = std::is_same_v<Backend, backend::cpu> ? 3 : 4;

  check_close<T>(key + "sin", of_x([](auto v) { return sin(v); }), limit);
  check_close<T>(key + "cos", of_x([](auto v) { return cos(v); }), limit);
  check_close<T>(key + "tan", of_x([](auto v) { return tan(v); }), limit);
  check_close<T>(key + "arcsin", of_x([](auto v) { return asin(v); }), limit);
  check_close<T>(key + "arccos", of_x([](auto v) { return acos(v); }), limit);
  check_close<T>(key + "arctan", of_x([](auto v) { return atan(v); }), limit);
  check_close<T>(key + "sinh", of_x([](auto v) { return sinh(v); }), limit);
  check_close<T>(key + "cosh", of_x([](auto v) { return cosh(v); }), limit);
  check_close<T>(key + "exp2", of_x([](auto v) { return exp2(v); }), limit);
  check_close<T>(key + "log2", of_x([](auto v) { return log2(v); }), limit);
  check_close<T>(key + "log10", of_x([](auto v) { return log10(v); }), limit);
  check_close<T>(key + "log1p", of_x([](auto v) { return log1p(v); }), limit);
  check_close<T>(key + "arctan2", of_two([](auto u, auto v) { return atan2(u, v); }), limit);
  check_close<T>(key + "hypot", of_two([](auto u, auto v) { return hypot(u, v); }), limit);

  const auto equal = [&](const char* name, const auto& result) { check_equal(name, result, numpy<T>(key + name)); };
  equal("floor", of_x([](auto v) { return floor(v); }));
  equal("ceil", of_x([](auto v) { return ceil(v); }));
  equal("rint", of_x([](auto v) { return round(v); }));
  equal("trunc", of_x([](auto v) { return trunc(v); }));
  equal("sign", of_x([](auto v) { return sign(v); }));
  equal("fmod", of_two([](auto u, auto v) { return fmod(u, v); }));
  equal("remainder", of_two([](auto u, auto v) { return remainder(u, v); }));
  equal("clip", of_x([](auto v) { return clamp(v, -0.75, 2); }));
  equal("clip_crossed", of_x([](auto v) { return clamp(v, 2, -0.75); }));
  std::vector<T> c(b.rbegin(), b.rend());
  equal("clip_by", elements<Backend, T>([](auto u, auto v, auto w) { return clamp(u, v, w); }, a, b, c));

  const auto equal_bytes = [&](const char* name, const auto& result) {
    check_equal(name, result, numpy_bytes(key + name));
  };
  equal_bytes("isnan", test_x([](auto v) { return isnan(v); }));
  equal_bytes("isinf", test_x([](auto v) { return isinf(v); }));
  equal_bytes("isfinite", test_x([](auto v) { return isfinite(v); }));
  equal_bytes("logical_not", test_x([](auto v) { return logical_not(v); }));
  equal_bytes("logical_and", test_two([](auto u, auto v) { return logical_and(u, v); }));
  equal_bytes("logical_or", test_two([](auto u, auto v) { return logical_or(u, v); }));
  equal_bytes("logical_xor", test_two([](auto u, auto v) { return logical_xor(u, v); }));
}

/// The functions that take integers, at the limits of their types.
template <class Backend, class T> void check_integers(const std::string& key) {
  const auto numbers = [&key](const std::string& name) {
    if constexpr (sizeof(T) == 1)
      return numpy_bytes(key + name);
    else
      return numpy<T>(key + name);
  };
  const auto a = numbers("a"), b = numbers("b");
  const auto of_a = [&](const auto& formula) { return elements<Backend, T>(formula, a); };
  const auto of_two = [&](const auto& formula) { return elements<Backend, T>(formula, a, b); };
  const auto test_two = [&](const auto& formula) { return elements<Backend, std::uint8_t>(formula, a, b); };
  check_equal("fmod", of_two([](auto u, auto v) { return fmod(u, v); }), numbers("fmod"));
  check_equal("remainder", of_two([](auto u, auto v) { return remainder(u, v); }), numbers("remainder"));
  check_equal("sign", of_a([](auto v) { return sign(v); }), numbers("sign"));
  check_equal("clip", of_a([](auto v) { return clamp(v, 1, 7); }), numbers("clip"));
  if constexpr (!std::is_same_v<T, std::int32_t>) {  // int64 has the same templates
    check_equal("floor", of_a([](auto v) { return floor(v); }), a);
    check_equal("ceil", of_a([](auto v) { return ceil(v); }), a);
    check_equal("round", of_a([](auto v) { return round(v); }), a);
    check_equal("trunc", of_a([](auto v) { return trunc(v); }), a);
    check_equal("logical_and", test_two([](auto u, auto v) { return logical_and(u, v); }),
                numpy_bytes(key + "logical_and"));
    check_equal("logical_or", test_two([](auto u, auto v) { return logical_or(u, v); }),
                numpy_bytes(key + "logical_or"));
    check_equal("logical_xor", test_two([](auto u, auto v) { return logical_xor(u, v); }),
                numpy_bytes(key + "logical_xor"));
  }
}

/// The functions of 16-bit elements: those of float, rounded once; numbers among the operands are not rounded.
template <class Backend, class T> void check_short_elements() {
  const auto values = numpy<float>("f32/x");
  const std::vector<T> x(values.begin(), values.end());
  const std::vector<float> wide(x.begin(), x.end());
  const auto check = [&](const char* name, const auto& formula) {
    const auto result = elements<Backend, T>(formula, x);
    auto expected = elements<Backend, float>(formula, wide);
    for (float& value : expected) value = T(value);
    check_equal(name, std::vector<float>(result.begin(), result.end()), expected);
  };
  const auto test = [&](const auto& formula) {
    check_equal("test", elements<Backend, std::uint8_t>(formula, x), elements<Backend, std::uint8_t>(formula, wide));
  };
  check("sin", [](auto v) { return sin(v); });
  check("remainder", [](auto v) { return remainder(v, 0.3F); });
  test([](auto v) { return isfinite(v); });
  if constexpr (std::is_same_v<T, bf16>) {  // half differs in conversions alone
    check("log1p", [](auto v) { return log1p(v); });
    check("atan2", [](auto v) { return atan2(0.3F, v); });
    check("round", [](auto v) { return round(v); });
    check("sign", [](auto v) { return sign(v); });
    check("clamp", [](auto v) { return clamp(v, -0.75F, 0.3F); });
    test([](auto v) { return logical_xor(v, 1); });
  }
}

/// One loop for an expression of several functions, into every other element.
template <class Backend> void check_fused() {
  const std::vector<float> x{-2.5F, -0.5F, 0, 0.5F, 1.5F, 40}, y{1, 2, 3, -1, -2, -3};
  const values_on<Backend, float> result(std::vector<float>(12, 9));
  const values_on<Backend, float> on_x(x), on_y(y);
  const auto u = on_x.in(), v = on_y.in();
  result.out().slice(axis<0>{}, 0, 12, 2) =
      where(logical_and(isfinite(u), u > -1), clamp(round(u) + remainder(u, v), -2, 2), sign(u) * hypot(3 * v, 4 * v));
  check_equal("fused", result.read(), {-5, 9, 1.5F, 9, 0, 9, -0.5F, 9, 1.5F, 9, 2, 9});
}

}  // namespace devplace::test::math_case
