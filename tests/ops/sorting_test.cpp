// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <devplace/data/sampler.hpp>
#include <devplace/ops/creation.hpp>

#include "ops/sorting_device_case.hpp"

namespace dp = devplace;
using host = dp::on<dp::cpu>;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("sort, argsort and top_k sort each row stably, NaN above all numbers", "[ops][sort]") {
  dp::test::check_all_sorts<host>();
}

TEST_CASE("sort, argsort and top_k along an axis sort each line stably", "[ops][sort]") {
  dp::test::check_all_sorts_along_axes<host>();
  const dp::tensor<float, dp::extents<3, 2>, host> x{{3, 1}, {1, 1}, {2, 0}};
  CHECK(support::values_of(dp::sort(x, dp::axis<0>{})) == std::vector<float>{1, 0, 2, 1, 3, 1});
  CHECK(support::values_of(dp::argsort(x, 0)) == std::vector<std::int64_t>{1, 2, 2, 0, 0, 1});
  CHECK(support::values_of(dp::sort(x, dp::axis<1>{})) == support::values_of(dp::sort(x)));
  CHECK_THROWS_AS(dp::sort(x, 2), dp::argument_error);
  dp::tensor<float, dp::extents<3, 2>, host> y(dp::extents<3, 2>{});
  dp::sort_into(y, x, dp::axis<0>{}, dp::sort_order::descending);
  CHECK(support::values_of(y) == std::vector<float>{3, 1, 2, 1, 1, 0});
  const auto [values, positions] = dp::top_k(x, 2, dp::axis<0>{});
  static_assert(std::is_same_v<decltype(values), const dp::tensor<float, dp::extents<dp::dyn, 2>, host>>);
  CHECK(support::values_of(values) == std::vector<float>{3, 1, 2, 1});
  CHECK(support::values_of(positions) == std::vector<std::int64_t>{0, 0, 2, 1});
  const auto of_rows = dp::top_k(x, 1, -1);
  static_assert(std::is_same_v<decltype(of_rows.positions), dp::tensor<std::int64_t, dp::dextents<2>, host>>);
  CHECK(support::values_of(of_rows.positions) == std::vector<std::int64_t>{0, 0, 0});
  CHECK_THROWS_AS(dp::top_k(x, 1, 2), dp::argument_error);
  CHECK_THROWS_WITH(dp::top_k(x, 4, 0), ContainsSubstring("4 elements were asked for and a row has 3"));
}

TEST_CASE("sorting rows does not depend on the number of threads", "[ops][sort]") {
  dp::test::check_sorts<host, float>(300, 400);
}

TEST_CASE("equal elements keep their order, -0 and 0 are equal, NaN is greatest", "[ops][sort]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const dp::tensor<float, dp::extents<2, 5>, host> x{{2, nan, -0.0F, 0, 2}, {-nan, 1, 3, 1, nan}};
  // Like torch.sort(x, stable=True), with and without descending=True.
  CHECK(support::values_of(dp::argsort(x)) == std::vector<std::int64_t>{2, 3, 0, 4, 1, 1, 3, 2, 0, 4});
  CHECK(support::values_of(dp::argsort(x, dp::sort_order::descending)) ==
        std::vector<std::int64_t>{1, 0, 4, 2, 3, 0, 4, 2, 1, 3});
  const auto [values, positions] = dp::top_k(x, 2);
  static_assert(std::is_same_v<decltype(values), const dp::tensor<float, dp::extents<2, dp::dyn>, host>>);
  static_assert(std::is_same_v<decltype(positions), const dp::tensor<std::int64_t, dp::extents<2, dp::dyn>, host>>);
  CHECK(support::values_of(positions) == std::vector<std::int64_t>{1, 0, 0, 4});
  CHECK(values(0, 1) == 2);
  CHECK(std::signbit(dp::sort(x)(0, 0)));
  CHECK(!std::signbit(dp::sort(x)(0, 1)));
}

TEST_CASE("sorts work along the last axis of any rank", "[ops][sort]") {
  const auto x = support::counted<std::int32_t>(dp::extents<2, 2, 3>{});
  CHECK(support::values_of(dp::sort(x, dp::sort_order::descending)) ==
        std::vector<std::int32_t>{2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9});
  const dp::tensor<double, dp::extents<3>, host> row{3, 1, 2};
  CHECK(support::values_of(dp::sort(row)) == std::vector<double>{1, 2, 3});
  CHECK(support::values_of(dp::top_k(row, 1).positions) == std::vector<std::int64_t>{0});
}

TEST_CASE("invalid arguments of sorts are errors", "[ops][sort]") {
  dp::tensor<float, dp::extents<dp::dyn>, host> x(dp::extents<dp::dyn>(3)), shorter(dp::extents<dp::dyn>(2));
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, host> positions(dp::extents<dp::dyn>(3));
  CHECK_THROWS_AS(dp::sort_into(x, x), dp::argument_error);
  CHECK_THROWS_WITH(dp::sort_into(x, x), ContainsSubstring("sort into another tensor"));
  CHECK_THROWS_WITH(dp::argsort_into(positions, positions), ContainsSubstring("sort into another tensor"));
  CHECK_THROWS_AS(dp::sort_into(x.slice(1, 3), x.slice(0, 2)), dp::argument_error);
  CHECK_THROWS_AS(dp::argsort_into(positions.slice(0, 2), positions.slice(1, 3)), dp::argument_error);
  CHECK_THROWS_AS(dp::sort_into(shorter, x), dp::shape_error);
  CHECK_THROWS_WITH(dp::top_k(x, 4), ContainsSubstring("4 elements were asked for and a row has 3"));
}

TEST_CASE("cumsum is exact for integers and has a fixed order for floating-point numbers", "[ops][scan]") {
  dp::test::check_all_sums<host>();
  dp::test::check_all_integer_rows<host>();
  dp::tensor<float, dp::extents<dp::dyn>, host> x(dp::extents<dp::dyn>(3)), y(dp::extents<dp::dyn>(2));
  CHECK_THROWS_AS(dp::cumsum_into(y, x), dp::shape_error);
  static_assert(std::is_same_v<decltype(dp::cumsum(x))::value_type, float>);
}

TEST_CASE("cumulative sums and products replace their operand, but not a part of it", "[ops][scan]") {
  dp::tensor<double, dp::extents<4>, host> x{1, 2, 3, 4};
  CHECK_THROWS_WITH(dp::cumsum_into(x.slice(1, 4), x.slice(0, 3)),
                    ContainsSubstring("cumsum: the result shares memory"));
  CHECK_THROWS_WITH(dp::cumprod_into(x.slice(0, 3), x.slice(1, 4)),
                    ContainsSubstring("cumprod: the result shares memory"));
  dp::cumsum_into(x.slice(0, 2), x.slice(0, 2));
  dp::cumprod_into(x.slice(2, 4), x.slice(2, 4));
  CHECK(support::values_of(x) == std::vector<double>{1, 3, 3, 12});
}

TEST_CASE("a random permutation is the order of its keys", "[ops][random]") {
  dp::test::check_permutations<host>();
  dp::tensor<std::int64_t, dp::extents<100>, host> order(dp::extents<100>{});
  dp::permutation_into(order, dp::seed{5});
  CHECK(support::values_of(order) == support::values_of(dp::permutation(100, dp::seed{5})));
  dp::permutation_into(order, dp::seed{2}, dp::sampler::stream(7));
  dp::sampler samples(100, dp::seed{2});
  const auto epoch = samples.order(7);
  CHECK(support::values_of(order) == std::vector<std::int64_t>(epoch.begin(), epoch.end()));
}

TEST_CASE("scratch memory of sorts is allocated on the place and freed", "[ops][sort]") {
  const auto x = support::counted<float>(dp::extents<100>{});
  dp::tensor<float, dp::extents<100>, host> y(dp::extents<100>{});
  const auto before = dp::memory_statistics<dp::cpu>();
  dp::reset_peak_memory<dp::cpu>();
  dp::sort_into(y, x);
  const auto after = dp::memory_statistics<dp::cpu>();
  CHECK(after.allocated == before.allocated);
  CHECK(after.peak - before.allocated == 100 * sizeof(std::int64_t));
}
