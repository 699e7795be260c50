// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/creation.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/wrap.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "support/catch.hpp"

namespace {

namespace dp = devplace;
using dp::cpu;
using dp::dyn;
using dp::extents;
using dp::on;

template <class X> auto values(const X& x) {
  return std::vector<typename X::value_type>(x.data(), x.data() + x.size());
}

}  // namespace

TEST_CASE("tensors with all elements equal", "[ops][creation]") {
  const auto none = dp::zeros<float, on<cpu>>(extents<dyn, 3>{2});
  STATIC_REQUIRE(std::same_as<decltype(none), const dp::tensor<float, extents<dyn, 3>, on<cpu>>>);
  CHECK(values(none) == std::vector<float>(6, 0));
  CHECK(values(dp::ones<std::int64_t, on<cpu>>(extents<4>{})) == std::vector<std::int64_t>(4, 1));
  CHECK(values(dp::full<double, on<cpu>>(extents<2, 2>{}, 0.5)) == std::vector<double>(4, 0.5));
  CHECK(values(dp::full<std::uint8_t, on<cpu>>(extents<>{}, 255)) == std::vector<std::uint8_t>{255});
  CHECK(dp::zeros<float, on<cpu>>(extents<0>{}).size() == 0);
  CHECK(values(dp::full<float, on<cpu>>(extents<dyn>{100000}, 2)) == std::vector<float>(100000, 2));
}

TEST_CASE("a place stands for the placement on it, and numbers for extents", "[ops][creation]") {
  const auto zeros = dp::zeros<float, cpu>(3, 4);
  STATIC_REQUIRE(std::same_as<decltype(zeros), const dp::tensor<float, extents<dyn, dyn>, on<cpu>>>);
  CHECK(zeros.extents() == extents<3, 4>{});
  CHECK(values(zeros) == std::vector<float>(12, 0));
  CHECK(values(dp::ones<double, on<cpu>>(std::size_t{2}, 1)) == std::vector<double>{1, 1});
  CHECK(values(dp::full<std::int32_t, cpu>(extents(2), 7)) == std::vector<std::int32_t>{7, 7});
  CHECK(values(dp::arange<float, cpu>(3)) == std::vector<float>{0, 1, 2});
  CHECK(values(dp::uniform<float, cpu>(extents(3), dp::seed{1})) ==
        values(dp::uniform<float, on<cpu>>(extents<3>{}, dp::seed{1})));
  STATIC_REQUIRE(std::same_as<decltype(dp::to<cpu>(zeros)), dp::tensor<float, extents<dyn, dyn>, on<cpu>>>);
  float memory[] = {1, 2};
  STATIC_REQUIRE(std::same_as<decltype(dp::wrap<cpu>(memory, extents<2>{})), dp::view<float, extents<2>, on<cpu>>>);
  STATIC_REQUIRE(std::same_as<decltype(extents(2, 3L)), extents<dyn, dyn>>);
  CHECK_THROWS_AS((dp::zeros<float, cpu>(-1)), dp::shape_error);
}

TEST_CASE("zeros_like takes type, extents and placement", "[ops][creation]") {
  const auto x = dp::ones<double, on<cpu>>(extents<dyn, 2>{3});
  const auto y = dp::zeros_like(x);
  STATIC_REQUIRE(std::same_as<decltype(y), decltype(x)>);
  CHECK(values(y) == std::vector<double>(6, 0));
  CHECK(dp::zeros_like(x.slice(0, 2)).extent(0) == 2);
}

// Expected values are the results of numpy.arange.
TEST_CASE("arange counts as numpy does", "[ops][creation]") {
  CHECK(values(dp::arange<std::int32_t, on<cpu>>(4)) == std::vector<std::int32_t>{0, 1, 2, 3});
  CHECK(values(dp::arange<std::int32_t, on<cpu>>(2, 9, 3)) == std::vector<std::int32_t>{2, 5, 8});
  CHECK(values(dp::arange<std::int64_t, on<cpu>>(5, -5, -4)) == std::vector<std::int64_t>{5, 1, -3});
  CHECK(values(dp::arange<std::uint8_t, on<cpu>>(250, 255)) == std::vector<std::uint8_t>{250, 251, 252, 253, 254});
  CHECK(values(dp::arange<float, on<cpu>>(0, 1, 0.25f)) == std::vector<float>{0, 0.25f, 0.5f, 0.75f});
  CHECK(values(dp::arange<double, on<cpu>>(1, 0, -0.5)) == std::vector<double>{1, 0.5});
  CHECK(dp::arange<float, on<cpu>>(0, 1, 0.3f).size() == 4);
  CHECK(dp::arange<float, on<cpu>>(3, 3).size() == 0);
  CHECK(dp::arange<std::int32_t, on<cpu>>(3, 1).size() == 0);
  CHECK(dp::arange<std::int32_t, on<cpu>>(1, 3, -1).size() == 0);
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min(), highest = std::numeric_limits<std::int64_t>::max();
  CHECK(values(dp::arange<std::int64_t, on<cpu>>(lowest, highest, highest)) ==
        std::vector<std::int64_t>{lowest, -1, highest - 1});
  CHECK_THROWS_AS((dp::arange<float, on<cpu>>(0, 1, 0)), dp::argument_error);
  CHECK_THROWS_AS((dp::arange<std::int32_t, on<cpu>>(0, 1, 0)), dp::argument_error);
  CHECK_THROWS_AS((dp::arange<float, on<cpu>>(0, std::numeric_limits<float>::infinity())), dp::argument_error);
}

TEST_CASE("a tensor is copied from the user's memory", "[tensor][wrap]") {
  std::vector<float> source{1, 2, 3, 4, 5, 6};
  const auto x = dp::to<on<cpu>>(dp::wrap(source, extents<dyn, 3>{2}));
  STATIC_REQUIRE(std::same_as<decltype(x), const dp::tensor<float, extents<dyn, 3>, on<cpu>>>);
  source[5] = 0;
  CHECK(x(1, 2) == 6);
  CHECK(dp::to<on<cpu>>(dp::wrap(std::span<const float>(source).first(2), extents<2>{}))(1) == 2);
  const std::array<std::uint8_t, 2> bytes{3, 4};
  CHECK(values(dp::to<on<cpu>>(dp::wrap(bytes, extents<2>{}))) == std::vector<std::uint8_t>{3, 4});
  const double one[] = {0.5};
  CHECK(dp::item(dp::to<on<cpu>>(dp::wrap(one, extents<>{}))) == 0.5);
  CHECK_THROWS_AS(dp::to<on<cpu>>(dp::wrap(source, extents<5>{})), dp::shape_error);
  CHECK_THROWS_WITH(dp::to<on<cpu>>(dp::wrap(source, extents<dyn, 5>{2})), Catch::Matchers::ContainsSubstring("2x5"));
  const std::vector<float> none;
  CHECK(dp::to<on<cpu>>(dp::wrap(none, extents<dyn>{0})).size() == 0);
}

TEST_CASE("random tensors equal the results of the _into functions", "[ops][creation]") {
  const auto u = dp::uniform<float, on<cpu>>(extents<3, 5>{}, dp::seed{1}, -1, 1);
  auto v = dp::zeros_like(u);
  dp::uniform_into(v, dp::seed{1}, 0, -1, 1);
  CHECK(values(u) == values(v));
  const auto n = dp::normal<double, on<cpu>>(extents<dyn>{7}, dp::seed{2}, 1, 2);
  auto m = dp::zeros_like(n);
  dp::normal_into(m, dp::seed{2}, 0, 1, 2);
  CHECK(values(n) == values(m));
  std::vector<std::int64_t> order(9);
  dp::permutation_into(order.data(), 9, dp::seed{3});
  CHECK(values(dp::permutation<on<cpu>>(9, dp::seed{3})) == order);
}
