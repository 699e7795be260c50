// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/take_rows.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/wrap.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::dyn;
using on_cpu = dp::on<dp::cpu>;

namespace {

template <class T> auto line_of(const std::vector<T>& values) {
  return dp::to<on_cpu>(dp::wrap(values, dp::extents<dyn>{values.size()}));
}

}  // namespace

TEST_CASE("take_rows copies the given rows in order, repeated ones too", "[ops]") {
  const dp::tensor<float, dp::extents<3, 2>, on_cpu> x{{1, 2}, {3, 4}, {5, 6}};
  const dp::tensor<std::int64_t, dp::extents<4>, on_cpu> indices{2, 0, 2, 1};
  const auto y = dp::take_rows(x, indices);
  STATIC_REQUIRE(std::same_as<std::remove_const_t<decltype(y)>, dp::tensor<float, dp::extents<4, 2>, on_cpu>>);
  CHECK(support::values_of(y) == std::vector<float>{5, 6, 1, 2, 5, 6, 3, 4});
}

TEST_CASE("take_rows of any rank, element type and type of index", "[ops]") {
  const auto cubes = support::counted<double>(dp::extents<dyn, 2, 3>{4});
  const auto bytes = line_of<std::uint8_t>({3, 1});
  const auto taken = dp::take_rows(cubes, bytes);
  STATIC_REQUIRE(
      std::same_as<std::remove_const_t<decltype(taken)>, dp::tensor<double, dp::extents<dyn, 2, 3>, on_cpu>>);
  CHECK(support::values_of(taken) == std::vector<double>{18, 19, 20, 21, 22, 23, 6, 7, 8, 9, 10, 11});
  const dp::tensor<std::int64_t, dp::extents<3>, on_cpu> line{7, 8, 9};
  const dp::tensor<std::int32_t, dp::extents<2>, on_cpu> two{2, 2};
  CHECK(support::values_of(dp::take_rows(line.view(), two)) == std::vector<std::int64_t>{9, 9});
  const auto large = support::counted<std::int32_t>(dp::extents<dyn, 100>{2000});
  std::vector<std::int64_t> backwards(2000);
  for (std::size_t i = 0; i < 2000; ++i) backwards[i] = static_cast<std::int64_t>(1999 - i);
  const auto turned = dp::take_rows(large, line_of(backwards));
  for (std::size_t i = 0; i < 2000; ++i)
    REQUIRE(turned.data()[i * 100 + 7] == static_cast<std::int32_t>((1999 - i) * 100 + 7));
}

TEST_CASE("take_rows without indices and of rows without elements", "[ops]") {
  const auto x = support::counted<float>(dp::extents<dyn, dyn>{3, 4});
  const dp::tensor<std::int64_t, dp::extents<0>, on_cpu> none(dp::extents<0>{});
  CHECK(dp::take_rows(x, none).size() == 0);
  const auto empty = support::counted<float>(dp::extents<dyn, dyn>{3, 0});
  const dp::tensor<std::int64_t, dp::extents<2>, on_cpu> two{2, 0};
  CHECK(dp::take_rows(empty, two).extent(0) == 2);
  const dp::tensor<std::int64_t, dp::extents<1>, on_cpu> beyond{3};
  CHECK_THROWS_AS(dp::take_rows(empty, beyond), dp::argument_error);
}

TEST_CASE("an index out of range is named, and nothing is written", "[ops]") {
  const auto x = support::counted<float>(dp::extents<3, 2>{});
  dp::tensor<float, dp::extents<2, 2>, on_cpu> y{{-1, -1}, {-1, -1}};
  const dp::tensor<std::int64_t, dp::extents<2>, on_cpu> beyond{0, 3}, negative{-1, 0};
  CHECK_THROWS_WITH(dp::take_rows_into(y, x, beyond),
                    ContainsSubstring("take_rows: index 3 at position 1 names no row of the operand, which has 3"));
  CHECK_THROWS_WITH(dp::take_rows_into(y, x, negative), ContainsSubstring("index -1 at position 0"));
  CHECK(support::values_of(y) == std::vector<float>(4, -1));
}

TEST_CASE("take_rows_into checks extents and memory", "[ops]") {
  auto x = support::counted<float>(dp::extents<dyn, dyn>{3, 2});
  const auto indices = line_of<std::int64_t>({0, 1});
  dp::tensor<float, dp::extents<dyn, dyn>, on_cpu> wrong(dp::extents<dyn, dyn>{2, 3});
  CHECK_THROWS_AS(dp::take_rows_into(wrong, x, indices), dp::shape_error);
  CHECK_THROWS_WITH(dp::take_rows_into(x.slice(1, 3), x, indices), ContainsSubstring("shares memory"));
  const auto of_x = x.slice(0, 1);
  dp::tensor<float, dp::extents<dyn, dyn>, on_cpu> y(dp::extents<dyn, dyn>{2, 2});
  const auto zeros = line_of<std::int64_t>({0, 0});
  dp::take_rows_into(y.view().erased(), of_x, zeros);
  CHECK(support::values_of(y) == std::vector<float>{0, 1, 0, 1});
}
