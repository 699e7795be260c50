// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <devplace/ops/activations.hpp>
#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/softmax.hpp>

#include "support/catch.hpp"
#include "support/values_on.hpp"

// Results of operations for NaN, infinities, -0 and subnormal numbers, on any backend. Unless noted otherwise, the
// expected values are the results of PyTorch 2.x on its CPU (torch.relu(x) and so on).

namespace devplace::test::special_values {

inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float inf = std::numeric_limits<float>::infinity();
inline constexpr float largest = std::numeric_limits<float>::max();
inline constexpr float tiny = std::numeric_limits<float>::denorm_min();

/// Compares numbers: NaN equals NaN, zeros must have equal signs, infinities must be equal; other numbers may differ by
/// a few ulp.
template <class T> bool equal_or_close(T result, T expected) {
  if constexpr (std::is_integral_v<T>) {
    return result == expected;
  } else {
    if (std::isnan(expected)) return std::isnan(result);
    if (expected == 0) return result == 0 && std::signbit(result) == std::signbit(expected);
    if (std::isinf(expected)) return result == expected;
    return std::abs(result - expected) <= 4 * std::numeric_limits<T>::epsilon() * std::abs(expected);
  }
}

template <class T> void check(const char* name, const std::vector<T>& result, const std::vector<T>& expected) {
  REQUIRE(result.size() == expected.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (equal_or_close(result[i], expected[i])) continue;
    INFO(name << ", element " << i << ": " << +result[i] << " where " << +expected[i] << " is due");
    CHECK(equal_or_close(result[i], expected[i]));
  }
}

using floats = std::vector<float>;
using bytes = std::vector<std::uint8_t>;

template <class Backend> void check_functions() {
  const floats x{nan, inf, -inf, -0.0F, 0.0F, 1, -1, tiny, largest, -largest};
  const auto of = [&x](const auto& formula) { return elements<Backend, float>(formula, x); };
  check("relu", of([](auto a) { return relu(a); }), {nan, inf, 0, -0.0F, 0, 1, 0, tiny, largest, 0});
  check("abs", of([](auto a) { return abs(a); }), {nan, inf, inf, 0, 0, 1, 1, tiny, largest, largest});
  check("-", of([](auto a) { return -a; }), {nan, -inf, inf, 0, -0.0F, -1, 1, -tiny, -largest, largest});
  check("square", of([](auto a) { return square(a); }), {nan, inf, inf, 0, 0, 1, 1, 0, inf, inf});
  const float e = 2.7182818F;
  check("exp", of([](auto a) { return exp(a); }), {nan, inf, 0, 1, 1, e, 1 / e, 1, inf, 0});
  check("log", of([](auto a) { return log(a); }),
        {nan, inf, nan, -inf, -inf, 0, nan, -103.2789306640625F, 88.72284F, nan});
  check("sqrt", of([](auto a) { return sqrt(a); }),
        {nan, inf, nan, -0.0F, 0, 1, nan, 3.743392066509216e-23F, 1.8446743e19F, nan});
  const float tanh1 = 0.7615941762924194F, sigmoid1 = 0.7310585975646973F;
  check("tanh", of([](auto a) { return tanh(a); }), {nan, 1, -1, -0.0F, 0, tanh1, -tanh1, tiny, 1, -1});
  check("sigmoid", of([](auto a) { return sigmoid(a); }),
        {nan, 1, 0, 0.5F, 0.5F, sigmoid1, 0.2689414322376251F, 0.5F, 1, 0});
  const float erf1 = 0.8427007794380188F;
  check("erf", of([](auto a) { return erf(a); }), {nan, 1, -1, -0.0F, 0, erf1, -erf1, tiny, 1, -1});
  check("expm1", of([](auto a) { return expm1(a); }),
        {nan, inf, -1, -0.0F, 0, 1.718281865119934F, -0.6321205496788025F, tiny, inf, -1});
  // Out-of-range conversions are undefined in PyTorch; cast documents the expected results.
  check("cast to int32", elements<Backend, std::int32_t>([](auto a) { return cast<std::int32_t>(a); }, x),
        {0, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min(), 0, 0, 1, -1, 0,
         std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()});
  check("cast to double", elements<Backend, double>([](auto a) { return cast<double>(a); }, x),
        {nan, inf, -inf, -0.0, 0, 1, -1, tiny, largest, -largest});
}

/// Checks activations. PyTorch's products are NaN for -infinity; the expected value is the limit, which activations
/// document.
template <class Backend> void check_activations() {
  const floats x{nan, inf, -inf, -0.0F, 0.0F, 1, -1, largest, -largest};
  const auto of = [&x](const auto& formula) { return elements<Backend, float>(formula, x); };
  check("gelu", of([](auto a) { return gelu(a); }),
        {nan, inf, -0.0F, -0.0F, 0, 0.8413447737693787F, -0.15865525603294373F, largest, -0.0F});
  check("gelu_tanh", of([](auto a) { return gelu_tanh(a); }),
        {nan, inf, -0.0F, -0.0F, 0, 0.8411920070648193F, -0.15880800783634186F, largest, -0.0F});
  check("silu", of([](auto a) { return silu(a); }),
        {nan, inf, -0.0F, -0.0F, 0, 0.7310585975646973F, -0.2689414322376251F, largest, -0.0F});
  const float log2 = 0.6931471824645996F;
  check("softplus", of([](auto a) { return softplus(a); }),
        {nan, inf, 0, log2, log2, 1.31326162815094F, 0.3132616877555847F, largest, 0});
  const auto slope = [&x](auto distribution) {
    using gradient = decltype(distribution);
    return elements<Backend, float>([](auto a) { return map(gradient{}, cast<float>(a == a), a); }, x);
  };
  namespace elementary = detail::elementary;
  check("gelu's gradient", slope(elementary::gated_gradient<elementary::normal>{}),
        {nan, 1, 0, 0.5F, 0.5F, 1.0833154916763306F, -0.08331546932458878F, 1, 0});
  check("gelu_tanh's gradient", slope(elementary::gated_gradient<elementary::nearly_normal>{}),
        {nan, 1, 0, 0.5F, 0.5F, 1.0829640626907349F, -0.08296408504247665F, 1, 0});
  check("silu's gradient", slope(elementary::gated_gradient<elementary::logistic>{}),
        {nan, 1, 0, 0.5F, 0.5F, 0.9276705384254456F, 0.07232949137687683F, 1, 0});
}

/// Removes the sign of zeros, for results that may have either.
inline floats without_sign_of_zero(floats x) {
  for (float& value : x) value = value == 0 ? 0 : value;
  return x;
}

template <class Backend> void check_operators() {
  const floats a{nan, 1, inf, -inf, inf, nan, 0, -0.0F, 2};
  const floats b{1, nan, -inf, inf, inf, nan, -0.0F, 0, inf};
  const auto of = [&](const auto& formula) { return elements<Backend, float>(formula, a, b); };
  check("+", of([](auto x, auto y) { return x + y; }), {nan, nan, nan, nan, inf, nan, 0, 0, inf});
  check("-", of([](auto x, auto y) { return x - y; }), {nan, nan, inf, -inf, nan, nan, 0, -0.0F, -inf});
  check("*", of([](auto x, auto y) { return x * y; }), {nan, nan, -inf, -inf, inf, nan, -0.0F, -0.0F, inf});
  check("/", of([](auto x, auto y) { return x / y; }), {nan, nan, nan, nan, nan, nan, nan, nan, 0});
  check("/ 0", elements<Backend, float>([](auto x) { return 1.0F / x; }, floats{0, -0.0F}), {inf, -inf});
  // For +0 and -0, either may be returned.
  check("maximum", without_sign_of_zero(of([](auto x, auto y) { return maximum(x, y); })),
        {nan, nan, inf, inf, inf, nan, 0, 0, inf});
  check("minimum", without_sign_of_zero(of([](auto x, auto y) { return minimum(x, y); })),
        {nan, nan, -inf, -inf, inf, nan, 0, 0, 2});
  check("where", of([](auto x, auto y) { return where(x > y, x, y); }), {1, nan, inf, inf, inf, nan, -0.0F, 0, inf});
  const auto truth = [&](const auto& formula) { return elements<Backend, std::uint8_t>(formula, a, b); };
  check("==", truth([](auto x, auto y) { return x == y; }), bytes{0, 0, 0, 0, 1, 0, 1, 1, 0});
  check("!=", truth([](auto x, auto y) { return x != y; }), bytes{1, 1, 1, 1, 0, 1, 0, 0, 1});
  check("<", truth([](auto x, auto y) { return x < y; }), bytes{0, 0, 0, 1, 0, 0, 0, 0, 1});
  check("<=", truth([](auto x, auto y) { return x <= y; }), bytes{0, 0, 0, 1, 1, 0, 1, 1, 1});
  check(">", truth([](auto x, auto y) { return x > y; }), bytes{0, 0, 1, 0, 0, 0, 0, 0, 0});
  check(">=", truth([](auto x, auto y) { return x >= y; }), bytes{0, 0, 1, 0, 1, 0, 1, 1, 0});
  check("pow",
        elements<Backend, float>([](auto x, auto y) { return pow(x, y); },
                                 floats{nan, 1, 0, -0.0F, -1, inf, inf, 0, -1, 2, -inf, -0.0F},
                                 floats{0, nan, -1, -1, inf, -1, 0, 0, 0.5F, -inf, 3, -3}),
        {1, 1, inf, -inf, 1, 0, 1, 1, nan, 0, -inf, -inf});
}

struct reduced {
  float sum, max, min;
  std::int64_t argmax, argmin;
};

/// Checks reductions of a line that is a row or a column in memory, next to a line of ordinary numbers.
template <class Backend> void check_line(const char* name, const floats& line, bool as_row, const reduced& expected) {
  const std::size_t n = line.size();
  floats matrix(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    matrix[as_row ? i : 2 * i] = line[i];
    matrix[as_row ? n + i : 2 * i + 1] = i == n / 2 ? 9 : i == n / 3 ? -9 : 0;
  }
  const values_on<Backend, float> x(matrix), results(floats(6));
  const values_on<Backend, std::int64_t> positions(std::vector<std::int64_t>(4));
  const auto reduce = [&](const auto& reducer) {
    const std::size_t outer = as_row ? 2 : 1, inner = as_row ? 1 : 2;
    detail::reduce<Backend>(0,
                            detail::reduction_plan{outer, n, inner, detail::element_source<float>{x.data()}, reducer});
  };
  reduce(detail::sum_reducer<float>{results.data(), 0});
  reduce(detail::extremum_reducer<float, true>{results.data() + 2});
  reduce(detail::extremum_reducer<float, false>{results.data() + 4});
  reduce(detail::extremum_position_reducer<float, true>{positions.data()});
  reduce(detail::extremum_position_reducer<float, false>{positions.data() + 2});
  INFO(n << " elements as a " << (as_row ? "row" : "column"));
  check(name, results.read(), {expected.sum, 0, expected.max, 9, expected.min, -9});
  check(name, positions.read(),
        {expected.argmax, static_cast<std::int64_t>(n / 2), expected.argmin, static_cast<std::int64_t>(n / 3)});
}

/// Checks lengths just below and above the number that a thread, a warp and a block of a GPU reduce; fewer cases for
/// the longest, which is slow on the GPU in software.
template <class Backend> void check_reductions() {
  for (const std::size_t n : {7u, 300u, 4500u})
    for (const bool as_row : {true, false}) {
      const auto last = static_cast<std::int64_t>(n) - 1;
      floats line(n, 1);
      line[n - 1] = inf;
      line[3] = -inf;
      check_line<Backend>("two infinities", line, as_row, {nan, inf, -inf, last, 3});
      line[n - 2] = nan;
      check_line<Backend>("a NaN", line, as_row, {nan, nan, nan, last - 1, last - 1});
      if (n > 1000) continue;
      line[1] = -nan;
      check_line<Backend>("two NaNs", line, as_row, {nan, nan, nan, 1, 1});
      floats one(n, 1);
      one[n - 1] = inf;
      one[3] = 0;
      check_line<Backend>("an infinity", one, as_row, {inf, inf, 0, last, 3});
      check_line<Backend>("infinities alone", floats(n, -inf), as_row, {-inf, -inf, -inf, 0, 0});
      check_line<Backend>("zeros with sign", floats(n, -0.0F), as_row, {0, -0.0F, -0.0F, 0, 0});
      floats large(n, 0);
      large[0] = large[n - 1] = largest;
      check_line<Backend>("a sum that is too large", large, as_row, {inf, largest, 0, 0, 1});
    }
}

/// Returns rows of three numbers, extended by `rest`, such as -infinity, which does not affect a softmax.
inline floats rows_of(std::size_t columns, float rest, const std::vector<std::array<float, 3>>& rows) {
  floats x(columns * rows.size(), rest);
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t c = 0; c < 3; ++c) x[row * columns + c] = rows[row][c];
  return x;
}

/// Returns rows that are all NaN if their first number is NaN, otherwise the three numbers and `rest`.
inline floats rows_or_nan(std::size_t columns, float rest, const std::vector<std::array<float, 3>>& rows) {
  floats x = rows_of(columns, rest, rows);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isnan(rows[i / columns][0])) x[i] = nan;
  return x;
}

inline const std::vector<std::array<float, 3>>& logits() {
  static const std::vector<std::array<float, 3>> rows{
      {1, nan, 3}, {-inf, -inf, -inf}, {inf, 1, 2}, {inf, inf, 0}, {nan, -inf, inf}, {-inf, 1, 1}, {1000, -1000, 0}};
  return rows;
}

/// Row lengths for a few lanes, a warp, and a block of a GPU.
inline constexpr std::array<std::size_t, 3> row_lengths{3, 200, 1500};

template <class Backend> void check_softmax() {
  const std::array<float, 3> undefined{nan, nan, nan};
  const float log2 = 0.6931471824645996F;
  for (const std::size_t n : row_lengths) {
    INFO("rows of " << n);
    const values_on<Backend, float> x(rows_of(n, -inf, logits())), y(floats(n * logits().size()));
    softmax_into(y.matrix(logits().size()), x.matrix(logits().size()));
    check("softmax", y.read(),
          rows_or_nan(n, 0, {undefined, undefined, undefined, undefined, undefined, {0, 0.5F, 0.5F}, {1, 0, 0}}));
    log_softmax_into(y.matrix(logits().size()), x.matrix(logits().size()));
    check(
        "log_softmax", y.read(),
        rows_or_nan(n, -inf,
                    {undefined, undefined, undefined, undefined, undefined, {-inf, -log2, -log2}, {0, -2000, -1000}}));
  }
}

template <class Backend> void check_cross_entropy() {
  const std::array<float, 3> undefined{nan, nan, nan};
  const float log2 = 0.6931471824645996F;
  const std::size_t rows = logits().size();
  const auto losses = [&](std::size_t n, const std::vector<std::int64_t>& labels, const floats& row_losses,
                          const std::vector<std::array<float, 3>>& gradients) {
    INFO("rows of " << n);
    const values_on<Backend, float> x(rows_of(n, -inf, logits())), dx(floats(n * rows)), each{floats(rows)},
        sums(floats(2));
    const values_on<Backend, std::int64_t> y(labels);
    cross_entropy_into(view<float, extents<2>, here<Backend>>{sums.data(), {}}, dx.matrix(rows), each.out(),
                       x.matrix(rows), y.in());
    check("row losses", each.read(), row_losses);
    check("gradients", without_sign_of_zero(dx.read()), rows_or_nan(n, 0, gradients));
    CHECK(std::isnan(sums.read()[0]));
  };
  for (const std::size_t n : row_lengths) {
    // Ignored rows have gradient 0, as cross_entropy_into documents; PyTorch's is NaN for rows with NaN.
    losses(n, {-100, -100, 0, -100, -100, -100, 2}, {0, 0, nan, 0, 0, 0, 1000},
           {{0, 0, 0}, {0, 0, 0}, undefined, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 0, -1}});
    if (n > 1000) continue;
    losses(n, {0, 0, 0, 0, 0, 0, 0}, {nan, nan, nan, nan, nan, inf, 0},
           {undefined, undefined, undefined, undefined, undefined, {-1, 0.5F, 0.5F}, {0, 0, 0}});
    losses(n, {1, 1, 1, 1, 1, 1, 1}, {nan, nan, nan, nan, nan, log2, 2000},
           {undefined, undefined, undefined, undefined, undefined, {0, -0.5F, 0.5F}, {1, -1, 0}});
  }
}

}  // namespace devplace::test::special_values
