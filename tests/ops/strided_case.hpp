// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/core.hpp>

#include "support/catch.hpp"

// Operations on strided views, on any place. Elements are small integers, so every sum is exact; expected values are
// computed on the host, element by element, from index tuples.
namespace strided_case {

namespace dp = devplace;
using dp::axis;

using shape3 = dp::dextents<3>;
using index3 = std::array<std::size_t, 3>;

/// The shape of a strided view of rank 3: permuted axes, then a range of each.
struct window_rule {
  index3 order{0, 1, 2}, first{}, step{1, 1, 1}, count{};

  index3 position(const index3& i) const {
    index3 result{};
    for (std::size_t axis = 0; axis < 3; ++axis) result[order[axis]] = first[axis] + i[axis] * step[axis];
    return result;
  }
};

inline window_rule random_window(const index3& sizes, std::mt19937& random) {
  window_rule rule;
  std::shuffle(rule.order.begin(), rule.order.end(), random);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t size = sizes[rule.order[axis]];
    rule.step[axis] = 1 + random() % 2;
    rule.first[axis] = random() % size;
    rule.count[axis] = 1 + random() % ((size - rule.first[axis] + rule.step[axis] - 1) / rule.step[axis]);
  }
  return rule;
}

/// Returns the view of a tensor or view that a rule describes.
template <class X> auto window(X&& x, const window_rule& rule) {
  const auto strided = x.slice(axis<0>{}, 0, x.extent(0), 1);
  const auto ranges = [&](const auto& v) {
    const auto along = [&](std::size_t a) { return rule.first[a] + (rule.count[a] - 1) * rule.step[a] + 1; };
    return v.slice(axis<0>{}, rule.first[0], along(0), rule.step[0])
        .slice(axis<1>{}, rule.first[1], along(1), rule.step[1])
        .slice(axis<2>{}, rule.first[2], along(2), rule.step[2]);
  };
  const std::size_t which = rule.order[0] * 9 + rule.order[1] * 3 + rule.order[2];
  switch (which) {
    case 0 + 3 + 2:
      return ranges(strided.permute(axis<0>{}, axis<1>{}, axis<2>{}));
    case 0 + 6 + 1:
      return ranges(strided.permute(axis<0>{}, axis<2>{}, axis<1>{}));
    case 9 + 0 + 2:
      return ranges(strided.permute(axis<1>{}, axis<0>{}, axis<2>{}));
    case 9 + 6 + 0:
      return ranges(strided.permute(axis<1>{}, axis<2>{}, axis<0>{}));
    case 18 + 0 + 1:
      return ranges(strided.permute(axis<2>{}, axis<0>{}, axis<1>{}));
    default:
      return ranges(strided.permute(axis<2>{}, axis<1>{}, axis<0>{}));
  }
}

/// Elements on the host, accessed by index tuples.
template <class T> struct table {
  index3 sizes{};
  std::vector<T> values;

  T& at(const index3& i) { return values[(i[0] * sizes[1] + i[1]) * sizes[2] + i[2]]; }
  const T& at(const index3& i) const { return values[(i[0] * sizes[1] + i[1]) * sizes[2] + i[2]]; }
  shape3 extents() const { return shape3(sizes[0], sizes[1], sizes[2]); }
};

template <class T> table<T> random_table(const index3& sizes, std::mt19937& random) {
  table<T> result{sizes, std::vector<T>(sizes[0] * sizes[1] * sizes[2])};
  for (T& value : result.values) value = static_cast<T>(static_cast<int>(random() % 17) - 8);
  return result;
}

inline index3 random_sizes(std::mt19937& random) { return {1 + random() % 5, 1 + random() % 6, 1 + random() % 9}; }

template <class Visit> void for_each_index(const index3& sizes, const Visit& visit) {
  for (std::size_t i = 0; i < sizes[0]; ++i)
    for (std::size_t j = 0; j < sizes[1]; ++j)
      for (std::size_t k = 0; k < sizes[2]; ++k) visit(index3{i, j, k});
}

/// Returns the table with the elements of a window.
template <class T> table<T> shown(const table<T>& x, const window_rule& rule) {
  table<T> result{rule.count, std::vector<T>(rule.count[0] * rule.count[1] * rule.count[2])};
  for_each_index(rule.count, [&](const index3& i) { result.at(i) = x.at(rule.position(i)); });
  return result;
}

/// Returns the elements of a tensor or view on any place.
template <class X> auto values_of(const X& x) {
  const auto host = dp::to<dp::on<dp::cpu>>(x);
  return std::vector<typename X::value_type>(host.data(), host.data() + host.size());
}

template <class Where, class T> auto on_place(const table<T>& x) {
  return dp::to<Where>(dp::wrap(x.values, x.extents()));
}

/// Checks expressions of strided views, and assignments to them.
template <class Where> void check_elementwise() {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    const auto a = random_table<float>(random_sizes(random), random),
               b = random_table<float>(random_sizes(random), random);
    const window_rule of_a = random_window(a.sizes, random);
    window_rule of_b = random_window(b.sizes, random);
    const index3 sizes{std::min(of_a.count[0], of_b.count[0]), of_a.count[1], of_a.count[2]};
    of_b.count = {sizes[0], 1, 1};  // extents 1: broadcast along these axes
    window_rule of_first = of_a;
    of_first.count = sizes;
    const auto x = on_place<Where>(a);
    auto y = on_place<Where>(b);
    const auto left = shown(a, of_first), right = shown(b, of_b);

    const dp::tensor made = window(x, of_first) * 3.0f - window(y, of_b);
    table<float> expected = left;
    for_each_index(sizes, [&](const index3& i) { expected.at(i) = left.at(i) * 3 - right.at({i[0], 0, 0}); });
    REQUIRE(values_of(made) == expected.values);
    REQUIRE(values_of(window(x, of_first)) == left.values);

    // Assignment to a window must not change elements outside of it.
    auto z = on_place<Where>(a);
    window(z, of_first) = window(x, of_first) + window(y, of_b);
    table<float> whole = a;
    for_each_index(sizes,
                   [&](const index3& i) { whole.at(of_first.position(i)) = left.at(i) + right.at({i[0], 0, 0}); });
    REQUIRE(values_of(z) == whole.values);
    window(z, of_first) -= window(y, of_b);
    for_each_index(sizes, [&](const index3& i) { whole.at(of_first.position(i)) = left.at(i); });
    REQUIRE(values_of(z) == whole.values);
    dp::fill(window(z, of_first), 9.0f);
    for_each_index(sizes, [&](const index3& i) { whole.at(of_first.position(i)) = 9; });
    REQUIRE(values_of(z) == whole.values);
    dp::copy(window(z, of_first), made);
    for_each_index(sizes, [&](const index3& i) { whole.at(of_first.position(i)) = expected.at(i); });
    REQUIRE(values_of(z) == whole.values);
  }
}

/// Checks other element types, comparisons, views of views, elements and printing.
template <class Where> void check_details() {
  dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>> host{{1, 2, 3}, {4, 5, 6}};
  const auto x = dp::to<Where>(host);
  const auto t = x.permute(axis<1>{}, axis<0>{});
  CHECK(values_of(dp::tensor(dp::cast<std::int32_t>(t))) == std::vector<std::int32_t>{1, 4, 2, 5, 3, 6});
  CHECK(values_of(dp::tensor(t > 2.0f)) == std::vector<std::uint8_t>{0, 1, 0, 1, 1, 1});
  CHECK(values_of(dp::tensor(dp::where(t > 2.0f, t, 0.0f))) == std::vector<float>{0, 4, 0, 5, 3, 6});
  CHECK(values_of(t[1]) == std::vector<float>{2, 5});
  CHECK(values_of(x.broadcast_to(dp::extents<2, 2, 3>{})) == std::vector<float>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  CHECK(values_of(dp::tensor(t + x.select(axis<1>{}, 0))) == std::vector<float>{2, 8, 3, 9, 4, 10});
  CHECK(dp::item(x.select(axis<1>{}, 2).slice(1, 2)) == 6);
  std::ostringstream out;
  out << t;
  CHECK(out.str().find("float, 3x2> on") != std::string::npos);
  CHECK(out.str().substr(out.str().find('\n')) == "\n[[1. 4.]\n [2. 5.]\n [3. 6.]]");
}

/// Checks assignments whose operands overlap the destination.
template <class Where> void check_overlap() {
  dp::tensor<float, dp::extents<3, 3>, dp::on<dp::cpu>> host{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  auto x = dp::to<Where>(host);
  x = x.permute(axis<1>{}, axis<0>{}) + 0.0f;
  CHECK(values_of(x) == std::vector<float>{1, 4, 7, 2, 5, 8, 3, 6, 9});
  x.slice(axis<1>{}, 1, 3) = x.slice(axis<1>{}, 0, 2) + 0.0f;
  CHECK(values_of(x) == std::vector<float>{1, 1, 4, 2, 2, 5, 3, 3, 6});
  x.select(axis<1>{}, 0) = x.select(axis<1>{}, 0) + x[2];
  CHECK(values_of(x) == std::vector<float>{4, 1, 4, 5, 2, 5, 9, 3, 6});
  dp::copy(x.permute(axis<1>{}, axis<0>{}), x);
  CHECK(values_of(x) == std::vector<float>{4, 5, 9, 1, 2, 3, 4, 5, 6});
}

/// Returns the expected reduction of a table along the axes in `which` (one bit each), in row-major order of the
/// others.
inline std::vector<double> brute_force(const table<float>& x, unsigned which, double first,
                                       double (*combine)(double, double)) {
  const auto reduced = [&](std::size_t axis) { return (which >> axis & 1U) != 0; };
  std::size_t results = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) results *= reduced(axis) ? 1 : x.sizes[axis];
  std::vector<double> values(results, first);
  for_each_index(x.sizes, [&](const index3& i) {
    std::size_t result = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (!reduced(axis)) result = result * x.sizes[axis] + i[axis];
    values[result] = combine(values[result], static_cast<double>(x.at(i)));
  });
  return values;
}

template <class X> std::vector<double> doubles_of(const X& x) {
  const auto values = values_of(x);
  return {values.begin(), values.end()};
}

inline double added(double a, double b) { return a + b; }
inline double larger(double a, double b) { return std::max(a, b); }
inline double smaller(double a, double b) { return std::min(a, b); }

/// Checks sums along axes given as types and as numbers; for one set of axes, also max and min, which read and order
/// elements as sum does.
template <unsigned Which, class X, class... Axes> void check_axes(const X& x, const table<float>& of, Axes... axes) {
  const auto sums = brute_force(of, Which, 0, added), largest = brute_force(of, Which, -1000, larger);
  REQUIRE(doubles_of(dp::sum(x, axes...)) == sums);
  if constexpr (Which == 2) {
    REQUIRE(doubles_of(dp::max(x, axes...)) == largest);
    REQUIRE(doubles_of(dp::min(x, axes...)) == brute_force(of, Which, 1000, smaller));
  }
  if constexpr (sizeof...(Axes) > 0) {
    REQUIRE(doubles_of(dp::sum(x, static_cast<int>(Axes::index)...)) == sums);
    REQUIRE(doubles_of(dp::max(x, (static_cast<int>(Axes::index) - 3)...)) == largest);
    static_assert(std::is_same_v<typename decltype(dp::sum(x, static_cast<int>(Axes::index)...))::extents_type,
                                 dp::dextents<3 - sizeof...(Axes)>>);
  }
}

/// Checks reductions of tensors and windows along every set of axes.
template <class Where> void check_reductions() {
  std::mt19937 random(3);
  const auto check_all = [](const auto& x, const auto& of) {
    check_axes<7>(x, of);
    check_axes<1>(x, of, axis<0>{});
    check_axes<2>(x, of, axis<1>{});
    check_axes<4>(x, of, axis<2>{});
    check_axes<3>(x, of, axis<0>{}, axis<1>{});
    check_axes<6>(x, of, axis<2>{}, axis<1>{});
    check_axes<5>(x, of, axis<0>{}, axis<2>{});
    check_axes<7>(x, of, axis<0>{}, axis<2>{}, axis<1>{});
  };
  for (int round = 0; round < 12; ++round) {
    const auto a = random_table<float>(random_sizes(random), random);
    const window_rule rule = random_window(a.sizes, random);
    const auto x = on_place<Where>(a);
    check_all(x, a);
    check_all(window(x, rule), shown(a, rule));

    const table<float> part = shown(a, rule);
    const auto means = dp::mean(window(x, rule), axis<0>{}, axis<2>{});
    auto expected = brute_force(part, 5, 0, added);
    for (double& value : expected)
      value = static_cast<float>(value / static_cast<double>(part.sizes[0] * part.sizes[2]));
    REQUIRE(doubles_of(means) == expected);
    const auto positions = values_of(dp::argmax(window(x, rule), axis<1>{}));
    for_each_index({part.sizes[0], 1, part.sizes[2]}, [&](const index3& i) {
      std::size_t best = 0;
      for (std::size_t j = 1; j < part.sizes[1]; ++j)
        if (part.at({i[0], j, i[2]}) > part.at({i[0], best, i[2]})) best = j;
      REQUIRE(positions[i[0] * part.sizes[2] + i[2]] == static_cast<std::int64_t>(best));
    });
  }
}

/// Checks that softmax and related functions along the last axis give equal bits for windows and row-major copies.
template <class Where> void check_softmax() {
  std::mt19937 random(4);
  for (int round = 0; round < 12; ++round) {
    const auto a = random_table<float>(random_sizes(random), random);
    const window_rule rule = random_window(a.sizes, random);
    auto x = on_place<Where>(a);
    const auto copy = dp::to<Where>(window(x, rule));
    const auto expected = dp::softmax(copy);
    REQUIRE(values_of(dp::softmax(window(x, rule))) == values_of(expected));
    REQUIRE(values_of(dp::log_softmax(window(x, rule))) == values_of(dp::log_softmax(copy)));
    auto gradient = dp::to<Where>(copy);
    dp::softmax_backward_into(gradient, expected, window(x, rule));
    auto expected_gradient = dp::to<Where>(copy);
    dp::softmax_backward_into(expected_gradient, expected, copy);
    REQUIRE(values_of(gradient) == values_of(expected_gradient));
    dp::softmax_into(window(x, rule), window(x, rule));  // in place
    REQUIRE(values_of(window(x, rule)) == values_of(expected));
    table<float> whole = a;
    const auto values = values_of(expected);
    std::size_t next = 0;
    for_each_index(rule.count, [&](const index3& i) { whole.at(rule.position(i)) = values[next++]; });
    REQUIRE(values_of(x) == whole.values);
  }
}

/// Makes a table with a random window of extents `count`.
template <class T> table<T> table_for(const index3& count, window_rule& rule, std::mt19937& random) {
  std::shuffle(rule.order.begin(), rule.order.end(), random);
  index3 sizes{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    rule.first[axis] = random() % 3;
    rule.step[axis] = random() % 4 == 0 ? 2 : 1;
    rule.count[axis] = count[axis];
    sizes[rule.order[axis]] = rule.first[axis] + (count[axis] - 1) * rule.step[axis] + 1 + random() % 2;
  }
  return random_table<T>(sizes, random);
}

/// Checks products of arrays of matrices; an array with a single matrix is broadcast. Sums are exact in any order.
template <class Where, class T> void check_products() {
  std::mt19937 random(5);
  const auto element = [](const table<T>& a, const table<T>& b, const index3& i) {
    double sum = 0;
    for (std::size_t p = 0; p < a.sizes[2]; ++p)
      sum += static_cast<double>(a.at({a.sizes[0] == 1 ? 0 : i[0], i[1], p})) *
             static_cast<double>(b.at({b.sizes[0] == 1 ? 0 : i[0], p, i[2]}));
    return sum;
  };
  for (int round = 0; round < 60; ++round) {
    const std::size_t batch = 1 + random() % 5, m = 1 + random() % 6, n = 1 + random() % 6, k = 1 + random() % 7;
    window_rule of_a, of_b, of_c;
    const auto a = table_for<T>({random() % 3 == 0 ? 1 : batch, m, k}, of_a, random);
    const auto b = table_for<T>({random() % 3 == 0 ? 1 : batch, k, n}, of_b, random);
    const std::size_t products = std::max(of_a.count[0], of_b.count[0]);
    auto c = table_for<T>({products, m, n}, of_c, random);
    const auto x = on_place<Where>(a), y = on_place<Where>(b);
    auto z = on_place<Where>(c);
    const auto left = shown(a, of_a), right = shown(b, of_b), before = shown(c, of_c);

    std::vector<T> expected;
    for_each_index({products, m, n},
                   [&](const index3& i) { expected.push_back(static_cast<T>(element(left, right, i))); });
    REQUIRE(values_of(dp::matmul(window(x, of_a), window(y, of_b))) == expected);
    REQUIRE(values_of(dp::matmul(dp::to<Where>(window(x, of_a)), dp::to<Where>(window(y, of_b)))) == expected);
    const auto first = window(x, of_a)[0], second = window(y, of_b)[0];  // matrices with strides
    REQUIRE(values_of(dp::matmul(first, second)) ==
            std::vector<T>(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(m * n)));

    const std::vector<T> numbers(n, T{3});
    const auto bias = dp::to<Where>(dp::wrap(numbers, dp::dextents<1>(n)));
    dp::matmul_into(window(z, of_c), window(x, of_a), window(y, of_b),
                    {.alpha = 2, .beta = T{0.5}, .bias = std::to_address(bias.data()), .epilogue = dp::epilogue::relu});
    for_each_index({products, m, n}, [&](const index3& i) {
      const double sum = 2 * element(left, right, i) + 0.5 * static_cast<double>(before.at(i)) + 3;
      c.at(of_c.position(i)) = static_cast<T>(std::max(sum, 0.0));
    });
    REQUIRE(values_of(z) == c.values);
  }
}

/// Checks that leading axes are broadcast as in numpy.matmul, for any rank.
template <class Where> void check_leading_axes() {
  std::mt19937 random(6);
  const auto a = random_table<float>({4, 3, 2}, random), b = random_table<float>({3, 2, 4}, random);
  const auto x = on_place<Where>(a), y = on_place<Where>(b);
  const auto of_x = x.permute(axis<2>{}, axis<1>{}, axis<0>{}).reshape(dp::extents<2, 1, 3, 4>{});  // 2 x 1 x 3 x 4
  const auto of_y = y.permute(axis<0>{}, axis<2>{}, axis<1>{});                                     // 3 x 4 x 2
  const auto c = dp::matmul(of_x, of_y);
  static_assert(std::is_same_v<typename decltype(c)::extents_type, dp::extents<2, dp::dyn, 3, dp::dyn>>);
  const auto values = values_of(c);
  std::size_t next = 0;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t column = 0; column < 2; ++column) {
          float sum = 0;
          for (std::size_t p = 0; p < 4; ++p) sum += a.at({p, row, i}) * b.at({j, column, p});
          REQUIRE(values[next++] == sum);
        }
  // A single matrix that is broadcast, and arrays without matrices.
  const auto one = dp::to<Where>(dp::wrap(b.values.data(), dp::extents<4, 6>{}));
  CHECK(dp::matmul(of_x, one).extents() == dp::extents<2, 1, 3, 6>{});
  CHECK(values_of(dp::matmul(of_x, one))[7] == [&] {
    float sum = 0;
    for (std::size_t p = 0; p < 4; ++p) sum += a.at({p, 1, 0}) * b.values[p * 6 + 1];
    return sum;
  }());
  CHECK(dp::matmul(x.slice(0, 0), y.slice(0, 0).permute(axis<0>{}, axis<1>{}, axis<2>{})).size() == 0);
  CHECK_THROWS_AS(dp::matmul(x, y), dp::shape_error);        // 4 matrices by 3
  CHECK_THROWS_AS(dp::matmul(of_y, of_y), dp::shape_error);  // 2 columns by 4 rows
  CHECK_THROWS_WITH(dp::matmul(x, y), Catch::Matchers::ContainsSubstring("matmul: leading extents"));
  const auto x_transposed = dp::transposed(x);
  CHECK(x_transposed.extents() == dp::extents<4, 2, 3>{});
  CHECK(values_of(x_transposed[1]) == values_of(dp::transposed(x[1])));
}

/// Checks copies from windows to windows, between any two places.
template <class To, class From> void check_copies() {
  std::mt19937 random(2);
  for (int round = 0; round < 25; ++round) {
    const auto a = random_table<double>(random_sizes(random), random), b = random_table<double>(a.sizes, random);
    window_rule of_a = random_window(a.sizes, random), of_b = random_window(b.sizes, random);
    for (std::size_t axis = 0; axis < 3; ++axis)
      of_a.count[axis] = of_b.count[axis] = std::min(of_a.count[axis], of_b.count[axis]);
    const auto source = on_place<From>(a);
    auto destination = on_place<To>(b);
    dp::copy(window(destination, of_b), window(source, of_a));
    table<double> expected = b;
    const auto moved = shown(a, of_a);
    for_each_index(of_b.count, [&](const index3& i) { expected.at(of_b.position(i)) = moved.at(i); });
    REQUIRE(values_of(destination) == expected.values);
    REQUIRE(values_of(dp::to<To>(window(source, of_a))) == moved.values);
  }
}

}  // namespace strided_case
