// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/rearrange.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>

#include "ops/rearrange_case.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using on_cpu = dp::on<dp::cpu>;
using dp::axis;

// float and int64 stand for both kinds and both sizes of elements, which are moved as bytes or added.
TEMPLATE_TEST_CASE("elements are moved, repeated, joined and chosen along every axis", "[ops]", float, std::int64_t) {
  dp::test::test_rearrangements<TestType, on_cpu>();
}

// Of 8 bytes; rearrange_simulated_test.cpp has float.
TEST_CASE("reversed views are read and written as reversed copies are", "[ops]") {
  dp::test::test_reversed_views<double, on_cpu>();
}

TEMPLATE_TEST_CASE("triangles, diagonals and outer products", "[ops]", float, std::int64_t) {
  dp::test::test_parts_of_matrices<TestType, on_cpu>();
}

TEST_CASE("16-bit elements and bytes are moved like others", "[ops]") {
  const auto x = support::counted<dp::bf16>(dp::extents<2, 2>{});
  CHECK(static_cast<float>(dp::flip(x, axis<0>{})(0, 1)) == 3);
  const auto bytes = support::counted<std::uint8_t>(dp::extents<3>{});
  CHECK(support::values_of(dp::roll(bytes, axis<0>{}, 1)) == std::vector<std::uint8_t>{2, 0, 1});
}

TEST_CASE("expressions are rearranged, and their diagonals taken", "[ops]") {
  const auto x = support::counted<float>(dp::extents<2, 2>{});
  CHECK(support::values_of(dp::flip(x + 1.0F, axis<1>{})) == std::vector<float>{2, 1, 4, 3});
  CHECK(support::values_of(dp::pad(x * 2.0F, axis<0>{}, {.after = 1})) == std::vector<float>{0, 2, 4, 6, 0, 0});
  CHECK(support::values_of(dp::tril(x + x)) == std::vector<float>{0, 0, 4, 6});
  CHECK(support::values_of(dp::diag(x + x)) == std::vector<float>{0, 6});
  CHECK(support::values_of(dp::outer(x[0] + 1.0F, x[1])) == std::vector<float>{2, 3, 4, 6});
}

TEST_CASE("arrays without elements are moved and joined", "[ops]") {
  const auto none = dp::zeros<float, on_cpu>(dp::extents<dp::dyn, 3>{0});
  CHECK(dp::flip(none, axis<0>{}).extent(0) == 0);
  CHECK(dp::roll(none, axis<0>{}, 5).extent(0) == 0);
  CHECK(dp::tile(none, axis<0>{}, 4).extent(0) == 0);
  const auto three = support::counted<float>(dp::extents<1, 3>{});
  CHECK(support::values_of(dp::concat(axis<0>{}, none, three, none)) == std::vector<float>{0, 1, 2});
  CHECK(support::values_of(dp::pad(none, axis<0>{}, {.before = 1, .value = 2})) == std::vector<float>{2, 2, 2});
  CHECK_THROWS_WITH(dp::pad(none, axis<0>{}, {.after = 1, .mode = dp::padding_mode::edge}),
                    ContainsSubstring("the mode edge needs 1 or more elements along the axis, and there are 0"));
}

TEST_CASE("at most all elements but one are reflected", "[ops]") {
  const auto x = support::counted<float>(dp::extents<3>{});
  const auto most = dp::pad(x, axis<0>{}, {.before = 2, .after = 2, .mode = dp::padding_mode::reflect});
  CHECK(support::values_of(most) == std::vector<float>{2, 1, 0, 1, 2, 1, 0});
  CHECK_THROWS_WITH(dp::pad(x, axis<0>{}, {.after = 3, .mode = dp::padding_mode::reflect}),
                    ContainsSubstring("the mode reflect needs 4 or more elements along the axis, and there are 3"));
}

TEST_CASE("repeated and padded elements that no machine can address are refused", "[ops]") {
  const auto x = support::counted<float>(dp::extents<2>{});
  const auto refused = ContainsSubstring("have more elements than a machine can address");
  constexpr std::size_t half = std::size_t{1} << 63U;  // twice this number is 0
  const std::size_t negative = std::size_t{1} - 3;     // a difference below 0
  CHECK_THROWS_WITH(dp::repeat(x, axis<0>{}, half), refused);
  CHECK_THROWS_WITH(dp::tile(x, axis<0>{}, half + 1), refused);
  CHECK_THROWS_WITH(dp::pad(x, axis<0>{}, {.before = negative}), refused);
  CHECK_THROWS_WITH(dp::pad(x, axis<0>{}, {.before = 1, .after = negative}), refused);
  CHECK(dp::repeat(dp::zeros<float, on_cpu>(0), axis<0>{}, half).size() == 0);
}

TEST_CASE("operands of other extents are not joined, even if they could be broadcast", "[ops]") {
  const auto x = dp::zeros<float, on_cpu>(dp::extents<2, dp::dyn>{3});
  const auto narrow = dp::zeros<float, on_cpu>(dp::extents<2, dp::dyn>{1});
  CHECK_THROWS_AS(dp::concat(axis<0>{}, x, narrow), dp::shape_error);
  CHECK_THROWS_AS(dp::stack(axis<0>{}, x, narrow), dp::shape_error);
  CHECK_THROWS_AS(dp::split_at(x, axis<0>{}, 3), dp::argument_error);
}

TEST_CASE("split_at gives views of both parts", "[ops]") {
  auto x = support::counted<float>(dp::extents<4>{});
  auto [head, tail] = dp::split_at(x, axis<0>{}, 1);
  tail = tail * 10.0F;
  CHECK(support::values_of(x) == std::vector<float>{0, 10, 20, 30});
  CHECK(head.size() == 1);
}

TEST_CASE("elements are not added to themselves", "[ops]") {
  auto x = support::counted<float>(dp::extents<4>{});
  auto indices = dp::zeros<std::int64_t, on_cpu>(dp::dextents<1>{2});
  CHECK_THROWS_WITH(dp::add_along(x, indices, x.slice(2, 4), axis<0>{}),
                    ContainsSubstring("add_along: the result shares memory with the operand"));
  CHECK_THROWS_AS(dp::add_along(indices, indices, dp::zeros<std::int64_t, on_cpu>(2), axis<0>{}), dp::argument_error);
  dp::add_along(x.slice(0, 2), indices, x.slice(2, 4), axis<0>{});
  CHECK(support::values_of(x) == std::vector<float>{5, 1, 2, 3});
}

TEST_CASE("an index that does not exist is an error", "[ops]") {
  auto x = support::counted<float>(dp::extents<2, 3>{});
  for (const std::int64_t wrong : {std::int64_t{3}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    const dp::tensor<std::int64_t, dp::extents<2, 1>, on_cpu> indices{{0}, {wrong}};
    CHECK_THROWS_WITH(dp::take_along(x, indices, axis<1>{}),
                      ContainsSubstring("take_along: there is no index " + std::to_string(wrong)));
    CHECK_THROWS_WITH(dp::add_along(x, indices, dp::zeros<float, on_cpu>(2, 1), axis<1>{}),
                      ContainsSubstring("add_along: there is no index " + std::to_string(wrong)));
  }
  auto empty = dp::zeros<float, on_cpu>(0, 0);
  CHECK_NOTHROW(dp::add_along(empty, dp::zeros<std::int64_t, on_cpu>(0, 2), dp::zeros<float, on_cpu>(0, 2), axis<1>{}));
  const auto narrow = dp::zeros<std::int64_t, on_cpu>(dp::dextents<2>{1, 1});
  CHECK_THROWS_AS(dp::take_along(x, narrow, axis<1>{}), dp::shape_error);
}

TEST_CASE("take_along with the positions of argsort sorts", "[ops]") {
  const dp::tensor<double, dp::extents<2, 3>, on_cpu> x{{3, 1, 2}, {5, 6, 4}};
  const dp::tensor<std::int32_t, dp::extents<2, 3>, on_cpu> order{{1, 2, 0}, {2, 0, 1}};
  CHECK(support::values_of(dp::take_along(x, order, axis<1>{})) == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("the elements of linspace and eye", "[ops]") {
  CHECK(support::values_of(dp::linspace<float, dp::cpu>(1, 2, 5)) == std::vector<float>{1, 1.25, 1.5, 1.75, 2});
  CHECK(support::values_of(dp::linspace<double, dp::cpu>(3, -3, 4)) == std::vector<double>{3, 1, -1, -3});
  CHECK(support::values_of(dp::linspace<double, dp::cpu>(7, 9, 1)) == std::vector<double>{7});
  CHECK(dp::linspace<double, dp::cpu>(7, 9, 0).size() == 0);
  const auto tenths = dp::linspace<double, dp::cpu>(0, 1, 11);
  CHECK(tenths(10) == 1);
  CHECK(tenths(3) == std::fma(3, 0.1, 0));
  CHECK(support::values_of(dp::eye<std::int32_t, dp::cpu>(2)) == std::vector<std::int32_t>{1, 0, 0, 1});
  CHECK(dp::eye<float, dp::cpu>(0).size() == 0);
}
