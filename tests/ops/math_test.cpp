// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/math.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/tensor/tensor.hpp>

#include "ops/math_case.hpp"
#include "support/element_types.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
namespace math_case = dp::test::math_case;
using backend = dp::backend::cpu;

namespace {

constexpr std::size_t points = 20001;

/// Returns numbers from -limit to limit, denser near 0.
template <class T> std::vector<T> spread(double limit) {
  std::vector<T> x(points);
  for (std::size_t i = 0; i != points; ++i) {
    const double t = static_cast<double>(i) / (points / 2) - 1;
    x[i] = static_cast<T>(limit * t * t * t);
  }
  return x;
}

template <class T> std::vector<T> mapped(std::vector<T> x, T (*function)(T)) {
  std::transform(x.begin(), x.end(), x.begin(), function);
  return x;
}

/// Returns the largest error in ulp against the function of a type with more digits. Has the expressions of
/// math_case.hpp, so that compilers instantiate each expression once.
template <class T, class Function, class... X> double worst(const Function& function, const X&... x) {
  const std::vector<T> result = dp::test::elements<backend, T>(function, x...);
  double error = 0;
  for (std::size_t i = 0; i != points; ++i) {
    const auto exact = function(static_cast<dp::test::wider<T>>(x[i])...);
    if (exact != 0) error = dp::test::larger(error, dp::test::ulps(result[i], exact));
  }
  return error;
}

template <class X> auto values(X&& expression) {
  const dp::tensor x = std::forward<X>(expression);
  return std::vector<typename std::remove_cvref_t<decltype(x)>::value_type>(x.data(), x.data() + x.size());
}

}  // namespace

TEST_CASE("functions of float and double elements are NumPy's, on the CPU", "[ops][math]") {
  math_case::check_floating<backend, float>();
  if constexpr (!support::sanitized) math_case::check_floating<backend, double>();
}

TEST_CASE("functions of integers are NumPy's at their limits, on the CPU", "[ops][math]") {
  math_case::check_integers<backend, std::int64_t>("i64/");
  math_case::check_integers<backend, std::int32_t>("i32/");
  math_case::check_integers<backend, std::uint8_t>("u8/");
}

TEST_CASE("functions of 16-bit elements round those of float once, on the CPU", "[ops][math]") {
  math_case::check_short_elements<backend, dp::bf16>();
  math_case::check_short_elements<backend, dp::half>();
}

TEST_CASE("functions are fused, also into strided views, on the CPU", "[ops][math]") {
  math_case::check_fused<backend>();
}

// The bounds that ops/math.hpp states. A formula is called with a tensor, and with a number of more digits.
TEMPLATE_TEST_CASE("functions have their accuracy on the CPU", "[ops][math]", FLOATING_TYPES) {
  using namespace std;
  using namespace devplace;
  using T = TestType;
  const auto angles = spread<T>(1e6), units = spread<T>(1), exponents = spread<T>(80),
             positive = mapped<T>(angles, [](T v) { return std::fabs(v) + T(1e-3); }),
             around_one = mapped<T>(units, [](T v) { return 1 + T(0.9) * v; });
  CHECK(worst<T>([](const auto& x) { return sin(x); }, angles) < 1);
  CHECK(worst<T>([](const auto& x) { return cos(x); }, angles) < 1);
  CHECK(worst<T>([](const auto& x) { return tan(x); }, angles) < 2);
  CHECK(worst<T>([](const auto& x) { return asin(x); }, units) < 1);
  CHECK(worst<T>([](const auto& x) { return acos(x); }, units) < 1);
  CHECK(worst<T>([](const auto& x) { return atan(x); }, angles) < 1);
  CHECK(worst<T>([](const auto& x) { return sinh(x); }, exponents) < 2);
  CHECK(worst<T>([](const auto& x) { return cosh(x); }, exponents) < 2);
  CHECK(worst<T>([](const auto& x) { return exp2(x); }, exponents) < 1);
  CHECK(worst<T>([](const auto& x) { return log2(x); }, positive) < 1);
  CHECK(worst<T>([](const auto& x) { return log10(x); }, positive) < 3);
  CHECK(worst<T>([](const auto& x) { return log1p(x); }, positive) < 1);
  CHECK(worst<T>([](const auto& x) { return log2(x); }, around_one) < 1);
  CHECK(worst<T>([](const auto& x) { return log10(x); }, around_one) < 3);
  CHECK(worst<T>([](const auto& x) { return log1p(x); }, mapped<T>(units, [](T v) { return v * T(0.999); })) < 1);
  CHECK(worst<T>([](const auto& y, const auto& x) { return atan2(y, x); }, exponents,
                 mapped<T>(angles, [](T v) { return std::cos(v); })) < 2);
  CHECK(worst<T>([](const auto& a, const auto& b) { return hypot(a, b); }, units, around_one) < 1);
}

TEST_CASE("functions of numbers keep their names beside those of tensors", "[ops][math]") {
  using namespace std;
  using namespace devplace;
  CHECK(sin(0.0) == 0);
  CHECK(atan2(0.0F, 1.0F) == 0);
  CHECK(round(2.5) == 3);
  CHECK(remainder(5.0, 3.0) == -1);
  CHECK(isnan(0.0) == false);
  CHECK(clamp(5, 1, 3) == 3);
  const tensor<float, dp::extents<3>, dp::cpu> x{-1.5F, 2.5F, 7};
  CHECK(values(sin(x * 0.0F)) == vector<float>{0, 0, 0});
  CHECK(values(round(x)) == vector<float>{-2, 2, 7});
  CHECK(values(remainder(x, 4)) == vector<float>{2.5F, 2.5F, 3});
  CHECK(values(clamp(x, 0, 3)) == vector<float>{0, 2.5F, 3});
  CHECK(values(clamp(x, x - 1, x)) == vector<float>{-1.5F, 2.5F, 7});
  CHECK(values(isnan(x)) == vector<uint8_t>{0, 0, 0});
}

TEST_CASE("where chooses between two numbers", "[ops][math]") {
  const dp::tensor<double, dp::extents<3>, dp::cpu> x{-1, 0, 2};
  STATIC_REQUIRE(std::same_as<decltype(dp::where(x > 0, 1, 0))::value_type, std::int32_t>);
  STATIC_REQUIRE(std::same_as<decltype(dp::where(x > 0, 1, 0.5))::value_type, double>);
  STATIC_REQUIRE(std::same_as<decltype(dp::where(x > 0, x.size(), 0))::value_type, std::int64_t>);
  CHECK(values(dp::where(x < 0, true, false)) == std::vector<std::uint8_t>{1, 0, 0});
  CHECK(values(dp::where(x > 0, 1, 0)) == std::vector<std::int32_t>{0, 0, 1});
  CHECK(values(dp::where(dp::logical_not(x), 0.5, 2) * x) == std::vector<double>{-2, 0, 4});
  CHECK(values(dp::where(dp::isfinite(x), 1.5F, 0)) == std::vector<float>{1.5F, 1.5F, 1.5F});
}
