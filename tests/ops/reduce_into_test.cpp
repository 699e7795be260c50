// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/reduce_into.hpp>

#include "support/catch.hpp"
#include "support/random_values.hpp"

#include <limits>

#include <devplace/memory/statistics.hpp>

namespace dp = devplace;
using dp::test::random_values;
using on_cpu = dp::on<dp::cpu>;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("column_sum_into adds to beta times the old elements", "[ops]") {
  const dp::tensor<float, dp::extents<3, 2>, on_cpu> x{{1, 2}, {3, 4}, {5, 6}};
  dp::tensor<float, dp::extents<2>, on_cpu> y{nan_value, nan_value};
  dp::column_sum_into(y, x);  // must not read y
  CHECK(y(0) == 9);
  CHECK(y(1) == 12);
  dp::column_sum_into(y.view(), x.view(), 1);
  CHECK(y(0) == 18);
  dp::column_sum_into(y.view().erased(), x.view().erased(), 0.5f);
  CHECK(y(0) == 18);
  CHECK(y(1) == 24);
  dp::column_sum_into(y, x.slice(0, 0));
  CHECK(y(0) == 0);
  dp::tensor<float, dp::dextents<1>, on_cpu> wrong(dp::dextents<1>{3});
  CHECK_THROWS_AS(dp::column_sum_into(wrong, x), dp::shape_error);
}

TEST_CASE("column_sum_into allocates nothing on the CPU", "[ops]") {
  const auto x = random_values<float>(dp::dextents<2>{3000, 100}, 5);
  dp::tensor<float, dp::extents<100>, on_cpu> columns(dp::extents<100>{});
  const auto before = dp::memory_statistics<dp::cpu>().allocations;
  dp::column_sum_into(columns, x);
  CHECK(dp::memory_statistics<dp::cpu>().allocations == before);
}
