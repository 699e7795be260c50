// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/statistics.hpp>
#include <devplace/sorting.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/random_values.hpp"

// Reductions of functions of elements, and cumulative sums, on any place, against the CPU.
namespace devplace::test {

/// Returns whether numbers agree but for `tolerance`, relative to `scale` and the number; NaN agrees with NaN.
inline bool agrees(double a, double b, double tolerance, double scale = 1) {
  if (std::isnan(b)) return std::isnan(a);
  return a == b || std::fabs(a - b) <= tolerance * std::fmax(std::fabs(b), scale);
}
template <class T> bool agree(const std::vector<T>& a, const std::vector<T>& b, double scale = 1) {
  const double tolerance = sizeof(T) == 8 ? 1e-12 : sizeof(T) == 4 ? 1e-6 : 1e-2;
  bool result = a.size() == b.size();
  for (std::size_t i = 0; result && i != a.size(); ++i) {
    result = agrees(static_cast<double>(a[i]), static_cast<double>(b[i]), tolerance, scale);
    if (!result)
      UNSCOPED_INFO("element " << i << ": " << static_cast<double>(a[i]) << ", expected " << static_cast<double>(b[i]));
  }
  return result;
}

template <class Place, class T, class X, class... Axes> void check_statistics_along(const X& x, Axes... axes) {
  const auto there = to<on<Place>>(x);
  using support::values_of;
  CHECK(agree(values_of(prod(there, axes...)), values_of(prod(x, axes...))));
  CHECK(values_of(any(there, axes...)) == values_of(any(x, axes...)));
  CHECK(values_of(all(there, axes...)) == values_of(all(x, axes...)));
  CHECK(values_of(count_nonzero(there, axes...)) == values_of(count_nonzero(x, axes...)));
  if constexpr (!std::is_integral_v<T>) {
    CHECK(agree(values_of(norm(there, axes...)), values_of(norm(x, axes...))));
    CHECK(agree(values_of(norm<1>(there, axes...)), values_of(norm<1>(x, axes...))));
    CHECK(values_of(norm<infinite_order>(there, axes...)) == values_of(norm<infinite_order>(x, axes...)));
    CHECK(agree(values_of(variance(there, axes...)), values_of(variance(x, axes...))));
    CHECK(agree(values_of(standard_deviation<0>(there, axes...)), values_of(standard_deviation<0>(x, axes...))));
    CHECK(agree(values_of(logsumexp(there, axes...)), values_of(logsumexp(x, axes...))));
  }
}

template <class Place, class T> void check_statistics_of(std::size_t rows, std::size_t columns) {
  INFO(rows << " x " << columns);
  const double low = std::is_same_v<T, std::uint8_t> ? 0 : -2;
  const auto x = random_values<T>(dextents<2>(rows, columns), 7, low, 2);
  check_statistics_along<Place, T>(x);
  check_statistics_along<Place, T>(x, axis<0>{});
  check_statistics_along<Place, T>(x, axis<1>{});
  const auto there = to<on<Place>>(x);
  using support::values_of;
  CHECK(values_of(cumsum(there, axis<0>{})) == values_of(cumsum(x, axis<0>{})));
  CHECK(values_of(cumsum(there, axis<1>{})) == values_of(cumsum(x, axis<1>{})));
  CHECK(values_of(cumprod(there, axis<0>{})) == values_of(cumprod(x, axis<0>{})));
  CHECK(values_of(cumprod(there, 1)) == values_of(cumprod(x, axis<1>{})));
}

template <class Place, class... T> void check_statistics() {
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {64, 10}, {10, 64}, {300, 37}, {3, 20'001}, {5000, 8}})
    (check_statistics_of<Place, T>(rows, columns), ...);
}

/// Checks reductions of 16-bit elements against those of the same numbers as float.
template <class Place, class T> void check_short_statistics() {
  const auto x = random_values<float>(dextents<2>(40, 24), 9);
  const tensor<T, dextents<2>, on<cpu>> rounded = cast<T>(x);
  const tensor<float, dextents<2>, on<cpu>> exact = cast<float>(rounded);
  const auto there = to<on<Place>>(rounded);
  const auto check = [](const auto& result, const auto& expected) {
    const tensor<float, dextents<1>, on<cpu>> on_host = cast<float>(to<on<cpu>>(result));
    const auto got = support::values_of(on_host), wanted = support::values_of(expected);
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i != got.size(); ++i)
      CHECK(agrees(static_cast<double>(got[i]), static_cast<double>(wanted[i]), 1e-2));
  };
  check(variance(there, 0), variance(exact, 0));
  check(logsumexp(there, 1), logsumexp(exact, 1));
  check(norm(there, 0), norm(exact, 0));
  check(norm<infinite_order>(there, 1), norm<infinite_order>(exact, 1));
  check(prod(there, 0), prod(exact, 0));
  check(cumsum(there, 1).reshape(dextents<1>(960)), cumsum(exact, 1).reshape(dextents<1>(960)));
  CHECK(support::values_of(count_nonzero(there, 1)) == support::values_of(count_nonzero(exact, 1)));
}

}  // namespace devplace::test
