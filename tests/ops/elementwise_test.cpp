// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/elementwise.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/tensor/item.hpp>
#include <devplace/tensor/wrap.hpp>

#include "support/catch.hpp"

namespace {

namespace dp = devplace;
using dp::cpu;
using dp::dyn;
using dp::extents;
using dp::on;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

template <class T, std::size_t... E> using host = dp::tensor<T, extents<E...>, on<cpu>>;

/// Returns the elements of a tensor, view or expression, in order.
template <class X> auto values(const X& x) {
  if constexpr (dp::tensor_like<X>) {
    const auto window = dp::detail::as_view(x);
    return std::vector<typename X::value_type>(window.data(), window.data() + window.size());
  } else {
    dp::tensor evaluated = dp::lazy(x);
    return values(evaluated);
  }
}

template <class T = float, class E> auto numbered(const E& e, T first = 1) {
  dp::tensor<T, E, on<cpu>> x(e);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(first + static_cast<T>(i));
  return x;
}

template <class T> bool same_bits(T a, T b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

/// Defines broadcasting element by element: operands of at most four axes, aligned at the last axis.
template <class A, class B>
std::vector<float> broadcast_sum(const A& a, const B& b, const std::vector<std::size_t>& shape) {
  const auto at = [&shape](const auto& x, std::vector<std::size_t> index) {
    std::size_t offset = 0;
    const std::size_t missing = shape.size() - std::remove_cvref_t<decltype(x)>::rank;
    for (std::size_t axis = missing; axis < shape.size(); ++axis) {
      const std::size_t extent = x.extent(axis - missing);
      offset = offset * extent + (extent == 1 ? 0 : index[axis]);
    }
    return x.data()[offset];
  };
  std::vector<float> result;
  std::vector<std::size_t> index(shape.size(), 0);
  for (;;) {
    result.push_back(at(a, index) + at(b, index));
    std::size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return result;
  }
}

}  // namespace

TEST_CASE("an expression is computed when a tensor is made from it", "[ops][elementwise]") {
  host<float, 2, 3> a{{1, 2, 3}, {4, 5, 6}};
  dp::tensor c = a + 2.0f * a;
  STATIC_REQUIRE(std::same_as<decltype(c), host<float, 2, 3>>);
  CHECK(values(c) == std::vector<float>{3, 6, 9, 12, 15, 18});

  auto later = a * a;
  STATIC_REQUIRE(decltype(later)::is_expression);
  a(0, 0) = 10;
  dp::tensor at_last = std::move(later);
  CHECK(values(at_last) == std::vector<float>{100, 4, 9, 16, 25, 36});
}

TEST_CASE("an expression made by lazy may have a name and is computed at each use", "[ops][elementwise]") {
  host<float, 3> a{1, 2, 3};
  const auto doubled = dp::lazy(a * 2.0f);
  dp::tensor first = doubled;
  a += 1.0f;
  dp::tensor second = doubled;
  a = doubled - 1.0f;
  CHECK(values(first) == std::vector<float>{2, 4, 6});
  CHECK(values(second) == std::vector<float>{4, 6, 8});
  CHECK(values(a) == std::vector<float>{3, 5, 7});
  a -= doubled;
  CHECK(values(a) == std::vector<float>{-3, -5, -7});
  a = doubled;
  CHECK(values(a) == std::vector<float>{-6, -10, -14});
  a[0] = dp::sum(doubled, dp::axis<0>{}) + 0.0f;
  CHECK(values(a) == std::vector<float>{-60, -10, -14});
  CHECK(dp::item(dp::max(dp::where(doubled < -20.0f, doubled, 1.0f))) == 1);
}

TEST_CASE("an expression that lazy made owns its temporaries and can be used once more", "[ops][elementwise]") {
  const auto make = [](float first) { return numbered(extents<3>{}, first); };
  auto owner = dp::lazy(make(1) * 10.0f);
  STATIC_REQUIRE_FALSE(std::copy_constructible<decltype(owner)>);
  CHECK(values(owner + owner) == std::vector<float>{20, 40, 60});
  auto moved = dp::lazy(std::move(owner) + 1.0f);
  CHECK(values(moved) == std::vector<float>{11, 21, 31});
  const auto named = make(1) + make(10);
  const auto refers = dp::lazy(named);  // refers to the tensors of `named`
  STATIC_REQUIRE(std::copy_constructible<decltype(refers)>);
  CHECK(values(refers * refers) == std::vector<float>{121, 169, 225});
}

TEST_CASE("each operation computes its formula", "[ops][elementwise]") {
  const host<float, 4> x{-2, -0.5, 0.25, 3};
  const host<float, 4> y{4, -1, 0.25, 2};
  CHECK(values(x + y) == std::vector<float>{2, -1.5f, 0.5f, 5});
  CHECK(values(x - y) == std::vector<float>{-6, 0.5f, 0, 1});
  CHECK(values(x * y) == std::vector<float>{-8, 0.5f, 0.0625f, 6});
  CHECK(values(x / y) == std::vector<float>{-0.5f, 0.5f, 1, 1.5f});
  CHECK(values(-x) == std::vector<float>{2, 0.5f, -0.25f, -3});
  CHECK(values(dp::abs(x)) == std::vector<float>{2, 0.5f, 0.25f, 3});
  CHECK(values(dp::square(x)) == std::vector<float>{4, 0.25f, 0.0625f, 9});
  CHECK(values(dp::relu(x)) == std::vector<float>{0, 0, 0.25f, 3});
  CHECK(values(dp::maximum(x, y)) == std::vector<float>{4, -0.5f, 0.25f, 3});
  CHECK(values(dp::minimum(x, y)) == std::vector<float>{-2, -1, 0.25f, 2});
  CHECK(values(dp::pow(x, 2)) == std::vector<float>{4, 0.25f, 0.0625f, 9});
  CHECK(values(dp::where(x > 0, x, y)) == std::vector<float>{4, -1, 0.25f, 3});
  CHECK(values(dp::where(x > 0, 1.0f, -1.0f)) == std::vector<float>{-1, -1, 1, 1});
  const auto near = [&x](const auto& expression, double (*f)(double)) {
    const auto result = values(expression);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(static_cast<double>(result[i]) == Catch::Approx(f(static_cast<double>(x(i)))).epsilon(1e-6));
  };
  near(dp::exp(x), [](double v) { return std::exp(v); });
  near(dp::tanh(x), [](double v) { return std::tanh(v); });
  near(dp::sigmoid(x), [](double v) { return 1 / (1 + std::exp(-v)); });
  near(dp::log(dp::abs(x)), [](double v) { return std::log(std::fabs(v)); });
  near(dp::sqrt(dp::abs(x)), [](double v) { return std::sqrt(std::fabs(v)); });
}

TEST_CASE("comparisons give 1 where true", "[ops][elementwise]") {
  using bytes = std::vector<std::uint8_t>;
  const host<int, 3> x{1, 2, 3};
  STATIC_REQUIRE(std::same_as<decltype(x < 2)::value_type, std::uint8_t>);
  CHECK(values(x < 2) == bytes{1, 0, 0});
  CHECK(values(x <= 2) == bytes{1, 1, 0});
  CHECK(values(x > 2) == bytes{0, 0, 1});
  CHECK(values(x >= 2) == bytes{0, 1, 1});
  CHECK(values(x == 2) == bytes{0, 1, 0});
  CHECK(values(x != 2) == bytes{1, 0, 1});
  CHECK(values(2 < x) == bytes{0, 0, 1});
}

TEST_CASE("square roots of many elements, of an expression, in place and into a view", "[ops]") {
  constexpr std::size_t n = 2500;  // more than two blocks
  host<float, n> x = numbered<float>(extents<n>{});
  std::vector<float> expected(n);
  for (std::size_t i = 0; i != n; ++i) expected[i] = std::sqrt(2 * static_cast<float>(i + 1));
  const host<float, n> y = dp::sqrt(x + x);
  CHECK(values(y) == expected);
  auto middle = x.slice(1000, 1500);
  middle = dp::sqrt(middle + middle);
  for (std::size_t i = 0; i != n; ++i)
    if (i < 1000 || i >= 1500) expected[i] = static_cast<float>(i + 1);
  CHECK(values(x) == expected);
}

TEST_CASE("NaN, infinities and the sign of zero", "[ops][elementwise]") {
  const host<float, 4> x{not_a_number, -0.0f, infinity, -infinity};
  const auto rectified = values(dp::relu(x));
  CHECK(std::isnan(rectified[0]));
  CHECK(same_bits(rectified[1], -0.0f));
  CHECK(rectified[2] == infinity);
  CHECK(same_bits(rectified[3], 0.0f));
  CHECK(same_bits(values(-x)[1], 0.0f));
  CHECK(same_bits(values(-dp::abs(x))[1], -0.0f));

  const auto greater = values(dp::maximum(x, 1.0f)), swapped = values(dp::maximum(1.0f, x));
  const auto smaller = values(dp::minimum(x, 1.0f)), exchanged = values(dp::minimum(1.0f, x));
  CHECK((std::isnan(greater[0]) && std::isnan(swapped[0]) && std::isnan(smaller[0]) && std::isnan(exchanged[0])));
  CHECK(greater[2] == infinity);
  CHECK(smaller[3] == -infinity);

  using bytes = std::vector<std::uint8_t>;
  CHECK(values(x == x) == bytes{0, 1, 1, 1});
  CHECK(values(x != x) == bytes{1, 0, 0, 0});
  CHECK(values(x < 0) == bytes{0, 0, 0, 1});
  CHECK(values(x >= 0) == bytes{0, 1, 1, 0});
  CHECK(values(x == 0.0f) == bytes{0, 1, 0, 0});
  CHECK(values(dp::where(x != x, 7.0f, x)) == std::vector<float>{7, -0.0f, infinity, -infinity});

  const auto logistic = values(dp::sigmoid(x));
  CHECK(std::isnan(logistic[0]));
  CHECK((logistic[1] == 0.5f && logistic[2] == 1 && logistic[3] == 0));
  CHECK(values(dp::exp(x))[3] == 0);
  CHECK(values(dp::log(x))[1] == -infinity);
  CHECK(std::isnan(values(dp::sqrt(x))[3]));
  CHECK(values(1.0f / x)[1] == -infinity);
}

TEST_CASE("integers wrap around and never trap", "[ops][elementwise]") {
  constexpr auto lowest = std::numeric_limits<std::int32_t>::min(), highest = std::numeric_limits<std::int32_t>::max();
  const host<std::int32_t, 3> x{lowest, highest, -7};
  using ints = std::vector<std::int32_t>;
  CHECK(values(x + 1) == ints{lowest + 1, lowest, -6});
  CHECK(values(x - 1) == ints{highest, highest - 1, -8});
  CHECK(values(x * 2) == ints{0, -2, -14});
  CHECK(values(-x) == ints{lowest, -highest, 7});
  CHECK(values(dp::abs(x)) == ints{lowest, highest, 7});
  CHECK(values(x / 0) == ints{0, 0, 0});
  CHECK(values(x / -1) == ints{lowest, -highest, 7});
  CHECK(values(x / 2) == ints{lowest / 2, highest / 2, -3});
  const host<std::uint8_t, 2> bytes{200, 3};
  CHECK(values(bytes * bytes) == std::vector<std::uint8_t>{64, 9});
  CHECK(values(bytes - 4) == std::vector<std::uint8_t>{196, 255});
  const host<std::int64_t, 1> wide{std::numeric_limits<std::int64_t>::min()};
  CHECK(values(wide / -1) == std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
}

TEST_CASE("cast converts and clamps", "[ops][elementwise]") {
  const host<float, 7> x{-1.75f, 2.75f, 300, -1e30f, 1e30f, not_a_number, -0.5f};
  constexpr auto lowest = std::numeric_limits<std::int32_t>::min(), highest = std::numeric_limits<std::int32_t>::max();
  CHECK(values(dp::cast<std::int32_t>(x)) == std::vector<std::int32_t>{-1, 2, 300, lowest, highest, 0, 0});
  CHECK(values(dp::cast<std::uint8_t>(x)) == std::vector<std::uint8_t>{0, 2, 255, 0, 255, 0, 0});
  CHECK(values(dp::cast<std::int64_t>(x))[4] == std::numeric_limits<std::int64_t>::max());
  CHECK(values(dp::cast<double>(x))[0] == -1.75);
  const host<double, 2> fine{0.1, 1e300};
  CHECK(values(dp::cast<float>(fine)) == std::vector<float>{0.1f, infinity});
  const host<std::int64_t, 2> wide{(std::int64_t{1} << 40) + 5, -1};
  CHECK(values(dp::cast<std::int32_t>(wide)) == std::vector<std::int32_t>{5, -1});
  CHECK(values(dp::cast<std::uint8_t>(wide)) == std::vector<std::uint8_t>{5, 255});
  CHECK(values(dp::cast<float>(x > 0) * x)[2] == 300);
}

TEST_CASE("a number takes the tensor's element type", "[ops][elementwise]") {
  const host<double, 1> x{0.5};
  STATIC_REQUIRE(std::same_as<decltype(2.0f * x)::value_type, double>);
  STATIC_REQUIRE(std::same_as<decltype(x + 1)::value_type, double>);
  const host<float, 1> y{0.5f};
  STATIC_REQUIRE(std::same_as<decltype(y * 0.1)::value_type, float>);
  CHECK(values(y * 0.1)[0] == 0.5f * 0.1f);
  const host<std::int64_t, 1> z{5};
  STATIC_REQUIRE(std::same_as<decltype(z * 2)::value_type, std::int64_t>);
}

TEST_CASE("extents broadcast as in numpy", "[ops][elementwise]") {
  SECTION("a row vector and a column vector beside a matrix") {
    const auto m = numbered(extents<3, 4>{});
    const auto row = numbered(extents<4>{}, 100.0f);
    const auto column = numbered(extents<3, 1>{}, 1000.0f);
    STATIC_REQUIRE(std::same_as<decltype(m + row)::extents_type, extents<3, 4>>);
    CHECK(values(m + row) == broadcast_sum(m, row, {3, 4}));
    CHECK(values(row + m) == broadcast_sum(m, row, {3, 4}));
    CHECK(values(m + column) == broadcast_sum(m, column, {3, 4}));
    STATIC_REQUIRE(std::same_as<decltype(column + row)::extents_type, extents<3, 4>>);
    CHECK(values(column + row) == broadcast_sum(column, row, {3, 4}));
    CHECK(values(row + column) == broadcast_sum(column, row, {3, 4}));
  }
  SECTION("inner and outer axes") {
    const auto a = numbered(extents<2, 1, 3, 1>{});
    const auto b = numbered(extents<5, 1, 4>{}, 100.0f);
    STATIC_REQUIRE(std::same_as<decltype(a + b)::extents_type, extents<2, 5, 3, 4>>);
    CHECK(values(a + b) == broadcast_sum(a, b, {2, 5, 3, 4}));
    const auto c = numbered(extents<2, 5, 3, 4>{}, 7.0f);
    const auto d = numbered(extents<2, 1, 3, 4>{}, 9.0f);
    CHECK(values(c + d) == broadcast_sum(c, d, {2, 5, 3, 4}));
    const auto e = numbered(extents<5, 3, 1>{}, 9.0f);
    CHECK(values(c + e) == broadcast_sum(c, e, {2, 5, 3, 4}));
  }
  SECTION("tensors of one element") {
    const auto m = numbered(extents<3, 4>{});
    host<float> scalar{extents<>{}};
    scalar() = 10;
    const host<float, 1> one{10};
    const auto one_by_one = numbered(extents<dyn, dyn>{1, 1}, 10.0f);
    CHECK(values(m + scalar) == values(m + 10));
    CHECK(values(one + m) == values(m + 10));
    CHECK(values(m + one_by_one) == values(m + 10));
    STATIC_REQUIRE(std::same_as<decltype(m + scalar)::extents_type, extents<3, 4>>);
    CHECK(values(scalar * scalar) == std::vector<float>{100});
  }
  SECTION("run-time extents") {
    const auto m = numbered(extents<dyn, dyn>{3, 4});
    const auto row = numbered(extents<dyn>{4});
    const auto first = numbered(extents<dyn, 4>{1});
    CHECK(values(m + row) == broadcast_sum(m, row, {3, 4}));
    CHECK(values(m + first) == broadcast_sum(m, first, {3, 4}));
    STATIC_REQUIRE(std::same_as<decltype(m + first)::extents_type, extents<dyn, 4>>);
    const auto other = numbered(extents<dyn, dyn>{2, 4});
    CHECK_THROWS_AS(m + other, dp::shape_error);
    CHECK_THROWS_WITH(m + other, Catch::Matchers::ContainsSubstring("3x4 and 2x4"));
    const auto square = numbered(extents<dyn, 3>{4});
    const auto narrow = numbered(extents<dyn, dyn>{4, 2});
    CHECK_THROWS_AS(square + narrow, dp::shape_error);
  }
  SECTION("eight axes") {
    const auto a = numbered(extents<2, 1, 2, 1, 2, 1, 2, 1>{});
    const auto b = numbered(extents<1, 3, 1, 2, 1, 2, 1, 3>{}, 50.0f);
    CHECK(values(a + b) == broadcast_sum(a, b, {2, 3, 2, 2, 2, 2, 2, 3}));
  }
}

TEST_CASE("empty tensors and tensors of one element", "[ops][elementwise]") {
  const auto none = numbered(extents<dyn, 3>{0});
  const auto row = numbered(extents<3>{});
  CHECK(values(none + row).empty());
  CHECK(values(dp::exp(none)).empty());
  const host<float, 0> nothing{extents<0>{}};
  const host<float, 1> one{2};
  CHECK(values(nothing + one).empty());
  CHECK(values(one * one) == std::vector<float>{4});
}

TEST_CASE("every size gives the same elements, on any number of threads", "[ops][elementwise]") {
  for (const std::size_t n : {1u, 3u, 15u, 16u, 17u, 63u, 65u, 1000u, 16383u, 16385u, 100003u}) {
    const auto x = numbered(extents<dyn>{n});
    const auto y = numbered(extents<dyn>{n}, 0.5f);
    host<float, dyn> z{x.extents()};
    z = x * 2.0f - y;
    bool right = true;
    for (std::size_t i = 0; i < n; ++i) right = right && z(i) == x(i) * 2.0f - y(i);
    CHECK(right);
  }
  const auto m = numbered(extents<dyn, dyn>{1001, 77});
  const auto row = numbered(extents<dyn>{77});
  const auto column = numbered(extents<dyn, 1>{1001});
  dp::serial_team alone;
  dp::builtin_thread_team three(3);
  const auto with = [&](auto& team, auto&& expression) {
    dp::thread_team_scope scope(team);
    return values(expression);
  };
  CHECK(with(alone, dp::exp(m * 1e-5f) + row) == with(three, dp::exp(m * 1e-5f) + row));
  CHECK(with(alone, m * column) == with(three, m * column));
}

TEMPLATE_TEST_CASE("results too large for the caches", "[ops][elementwise]", std::uint8_t, float, double) {
  const std::size_t n =
      dp::detail::streamed_from == ~std::size_t{0} ? 1000 : dp::detail::streamed_from / sizeof(TestType) + 77;
  dp::serial_team alone;
  dp::thread_team_scope scope(alone);
  std::vector<TestType> numbers(n + 1), results(n + 1, TestType{7});
  TestType* const all = numbers.data();  // a vector's operator is a call without optimisation
  for (std::size_t i = 0; i <= n; ++i) all[i] = static_cast<TestType>(i % 100);
  // One element after the begin of an array, no destination is aligned to a vector.
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
    const TestType *const number = all + first, *const result = results.data() + first;
    const auto x = dp::wrap<cpu>(all + first, extents<dyn>{n - 1});
    const auto y = dp::wrap<cpu>(results.data() + first, extents<dyn>{n - 1});
    std::size_t wrong = 0;
    y = x + TestType{3} * x;
    for (std::size_t i = 0; i < n - 1; ++i) wrong += result[i] != static_cast<TestType>(4 * number[i]);
    y = y - x;  // in place
    for (std::size_t i = 0; i < n - 1; ++i) wrong += result[i] != static_cast<TestType>(4 * number[i] - number[i]);
    CHECK(wrong == 0);
    CHECK(results[first + n - 1] == TestType{7});
  }
}

TEST_CASE("assigning computes into existing elements", "[ops][elementwise]") {
  auto a = numbered(extents<2, 3>{});
  const float* memory = a.data();
  const auto row = numbered(extents<3>{}, 10.0f);
  a = a * 2.0f + row;
  CHECK(values(a) == std::vector<float>{12, 15, 18, 18, 21, 24});
  CHECK(a.data() == memory);
  a = row + 0.0f;  // broadcast to the destination
  CHECK(values(a) == std::vector<float>{10, 11, 12, 10, 11, 12});
  a[1] = row * 2.0f;
  CHECK(values(a) == std::vector<float>{10, 11, 12, 20, 22, 24});
  a.reshape(extents<6>{}).slice(1, 3) = row.slice(0, 2) * 0.0f;
  CHECK(values(a) == std::vector<float>{10, 0, 0, 20, 22, 24});

  auto wrong = numbered(extents<dyn, 3>{4});
  host<float, dyn, 3> three{extents<dyn, 3>{3}};
  CHECK_THROWS_AS(three = wrong + 1.0f, dp::shape_error);
  auto single = numbered(extents<dyn, 3>{1});
  CHECK_THROWS_AS(single = wrong + 1.0f, dp::shape_error);  // the destination must not be broadcast
  CHECK(values(single) == std::vector<float>{1, 2, 3});
}

TEST_CASE("compound assignment", "[ops][elementwise]") {
  auto a = numbered(extents<2, 2>{});
  const auto row = numbered(extents<2>{}, 10.0f);
  a += row;
  CHECK(values(a) == std::vector<float>{11, 13, 13, 15});
  (a -= 1) *= 2.0f;
  CHECK(values(a) == std::vector<float>{20, 24, 24, 28});
  a /= a.view();
  CHECK(values(a) == std::vector<float>{1, 1, 1, 1});
  a[0] += row * row;
  CHECK(values(a) == std::vector<float>{101, 122, 1, 1});
  auto window = a.view();
  window -= a;
  CHECK(values(a) == std::vector<float>{0, 0, 0, 0});
}

TEST_CASE("an overlapping destination gets the result computed from the old elements", "[ops][elementwise]") {
  SECTION("shifted up") {
    auto x = numbered(extents<100>{});
    x.slice(1, 100) = x.slice(0, 99) + 0.0f;
    for (std::size_t i = 1; i < 100; ++i) REQUIRE(x(i) == static_cast<float>(i));
  }
  SECTION("shifted down") {
    auto x = numbered(extents<100>{});
    x.slice(0, 99) = x.slice(1, 100) * 2.0f;
    for (std::size_t i = 0; i < 99; ++i) REQUIRE(x(i) == 2 * static_cast<float>(i + 2));
  }
  SECTION("its own first row") {
    auto x = numbered(extents<3, 2>{});
    x += x[0];
    CHECK(values(x) == std::vector<float>{2, 4, 4, 6, 6, 8});
  }
  SECTION("its own first element") {
    auto x = numbered(extents<4>{}, 2.0f);
    x = x / x[0];
    CHECK(values(x) == std::vector<float>{1, 1.5f, 2, 2.5f});
  }
  SECTION("one operand in place, another shifted") {
    auto x = numbered(extents<4>{});
    x.slice(0, 3) = x.slice(0, 3) + x.slice(1, 4);
    CHECK(values(x) == std::vector<float>{3, 5, 7, 4});
  }
}

TEST_CASE("assignment does not allocate, in place or into other memory", "[ops][elementwise]") {
  auto a = numbered(extents<50, 7>{});
  const auto row = numbered(extents<7>{});
  host<float, 50, 7> b{extents<50, 7>{}};
  const auto before = dp::memory_statistics<cpu>().allocations;
  b = dp::relu(a - row) * 2.0f;
  a = a + b;
  a += row;
  b[3] = a[4] + a[5];
  CHECK(dp::memory_statistics<cpu>().allocations == before);
}

TEST_CASE("an expression owns the temporaries in it", "[ops][elementwise]") {
  // AddressSanitizer detects if any of these reads freed memory.
  const auto make = [](float first) { return numbered(extents<1000>{}, first); };
  auto temporary = make(1) + make(2);
  CHECK(values(temporary)[999] == 2001);
  STATIC_REQUIRE(!std::copy_constructible<decltype(temporary)>);

  const auto from_function = [&make] {
    auto p = make(1);
    auto q = make(2);
    return std::move(p) * std::move(q);  // locals are moved in; a view of them would dangle
  }();
  CHECK(values(from_function)[9] == 110);

  auto moved = std::move(temporary);
  auto larger = dp::exp(std::move(moved) * 0.0f) + make(0);
  CHECK(values(larger)[10] == 11);

  const auto& kept = from_function;
  auto composed = dp::lazy(kept) + 1.0f;  // views what `kept` owns
  STATIC_REQUIRE(std::copy_constructible<decltype(composed)>);
  CHECK(values(composed)[9] == 111);

  const auto nested = dp::where(make(0) > 5.0f, make(0), make(100) - 100.0f);
  CHECK(values(nested)[7] == 7);
}

namespace {

struct clipped {
  float limit;
  DEVPLACE_HD float operator()(float x) const { return x > limit ? limit : x; }
};

struct looked_up {
  DEVPLACE_HD double operator()(std::int64_t index, float scale, double bias) const {
    return static_cast<double>(index) * static_cast<double>(scale) + bias;
  }
};

}  // namespace

TEST_CASE("map applies a user's functor", "[ops][elementwise]") {
  const auto x = numbered(extents<4>{});
  CHECK(values(dp::map(clipped{2.5f}, x)) == std::vector<float>{1, 2, 2.5f, 2.5f});
  CHECK(values(dp::map(clipped{2.5f}, x * 2.0f) + 1.0f) == std::vector<float>{3, 3.5f, 3.5f, 3.5f});
  const auto index = numbered<std::int64_t>(extents<3, 1>{});
  const auto bias = numbered<double>(extents<4>{}, 0.5);
  dp::tensor y = dp::map(looked_up{}, index, x, bias);
  STATIC_REQUIRE(std::same_as<decltype(y), host<double, 3, 4>>);
  CHECK(y(2, 3) == 3 * 4 + 3.5);
}

TEST_CASE("views without an ordinal in their type work the same", "[ops][elementwise]") {
  auto a = numbered(extents<dyn, 3>{2});
  const auto b = numbered(extents<3>{}, 10.0f);
  const auto erased = a.view().erased();
  erased = dp::relu(erased + b.view().erased()) * 2.0f;
  CHECK(values(a) == std::vector<float>{22, 26, 30, 28, 32, 36});
  erased += b.view().erased();
  CHECK(a(0, 0) == 32);

  using device = dp::detail::device_of<dp::here<dp::backend::cpu>>;
  const dp::view<float, extents<dyn, 3>, dp::here<dp::backend::cpu>> elsewhere(a.data(), a.extents(), device{1});
  CHECK_THROWS_AS(erased = erased + elsewhere, dp::argument_error);
  CHECK_THROWS_AS(elsewhere = erased + 1.0f, dp::argument_error);
}

TEST_CASE("fill sets every element", "[ops][elementwise]") {
  auto a = numbered(extents<2, 3>{});
  dp::fill(a[1], 5);
  CHECK(values(a) == std::vector<float>{1, 2, 3, 5, 5, 5});
  dp::fill(a, 0.5f);
  CHECK(values(a) == std::vector<float>(6, 0.5f));
}

namespace {

template <class A, class B>
concept can_add = requires { std::declval<A>() + std::declval<B>(); };

static_assert(can_add<host<float, 3>&, float>);
static_assert(!can_add<const host<float, 3>, float>, "a const temporary cannot be moved into an expression");

}  // namespace

namespace program {

struct metres {
  float count;
};
template <dp::tensor_like X> auto operator*(X&& x, metres unit) { return x * unit.count; }
template <dp::tensor_like X> bool operator|(X&& x, metres unit) {
  return x.extent(0) == static_cast<std::size_t>(unit.count);
}

}  // namespace program

TEST_CASE("a program's own operators with tensors are used", "[ops][elementwise]") {
  auto x = dp::ones<float, dp::cpu>(3);
  const auto& constant = x;
  const dp::tensor doubled = x * program::metres{2}, tripled = constant * program::metres{3};
  CHECK(dp::item(dp::sum(doubled)) == 6);
  CHECK(dp::item(dp::sum(tripled)) == 9);
  CHECK((x | program::metres{3}));
  CHECK((constant | program::metres{3}));
}

TEST_CASE("a difference does not repeat both operands if their ranks differ", "[ops][elementwise]") {
  const dp::tensor<float, dp::dextents<2>, dp::cpu> column{{1}, {2}, {3}};
  const auto targets = dp::ones<float, dp::cpu>(3);
  CHECK_THROWS_WITH(column - targets,
                    Catch::Matchers::ContainsSubstring(
                        "a difference of 3x1 and 3, which have different numbers of axes, would repeat both to 3x3"));
  CHECK(dp::tensor(column - targets.reshape(dp::extents(3, 1))).size() == 3);
  CHECK(dp::tensor(column - targets.reshape(dp::extents(1, 3))).size() == 9);
  CHECK(dp::tensor(column - dp::ones<float, dp::cpu>(1)).size() == 3);
}
