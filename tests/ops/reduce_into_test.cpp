// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/reduce_into.hpp>

#include "support/catch.hpp"
#include "support/random_values.hpp"

#include <cstdint>
#include <limits>

#include <devplace/memory/statistics.hpp>

namespace dp = devplace;
using dp::test::random_values;
using on_cpu = dp::on<dp::cpu>;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

template <class T>
dp::tensor<T, dp::extents<>, on_cpu> scalar() {
  return dp::tensor<T, dp::extents<>, on_cpu>(dp::extents<>{});
}

}  // namespace

TEST_CASE("column_sum_into adds to beta times what is there", "[ops]") {
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

TEST_CASE("sum_into and sum_of_squares_into", "[ops]") {
  const dp::tensor<float, dp::extents<2, 2>, on_cpu> x{{1, -2}, {3, -4}};
  auto result = scalar<float>();
  dp::sum_into(result, x);
  CHECK(result() == -2);
  dp::sum_of_squares_into(result.view().erased(), x.view().erased());
  CHECK(result() == 30);
}

TEST_CASE("argmax_into and count_equal_into count correct predictions", "[ops]") {
  const dp::tensor<float, dp::extents<4, 3>, on_cpu> logits{{1, 2, 3}, {3, 2, 1}, {0, 1, 0}, {5, 5, 5}};
  const dp::tensor<std::uint8_t, dp::extents<4>, on_cpu> labels{2, 1, 1, 0};
  dp::tensor<std::int64_t, dp::extents<4>, on_cpu> classes(dp::extents<4>{});
  dp::argmax_into(classes, logits);
  auto correct = scalar<std::int64_t>();
  dp::count_equal_into(correct, classes, labels);
  CHECK(correct() == 3);
  dp::count_equal_into(correct, classes, labels, 1);
  CHECK(correct() == 6);
  dp::count_equal_into(correct, classes.slice(0, 0), labels.slice(0, 0), 1);
  CHECK(correct() == 6);
  dp::count_equal_into(correct, classes.slice(0, 0), labels.slice(0, 0));
  CHECK(correct() == 0);
}

TEST_CASE("the forms with _into allocate nothing on the CPU", "[ops]") {
  const auto x = random_values<float>(dp::dextents<2>{3000, 100}, 5);
  dp::tensor<float, dp::extents<100>, on_cpu> columns(dp::extents<100>{});
  auto total = scalar<float>();
  dp::tensor<std::int64_t, dp::dextents<1>, on_cpu> classes(dp::dextents<1>{3000});
  auto agreeing = scalar<std::int64_t>();
  const auto before = dp::memory_statistics<dp::cpu>().allocations;
  dp::sum_into(total, x);
  dp::sum_of_squares_into(total, x);
  dp::column_sum_into(columns, x);
  dp::argmax_into(classes, x);
  dp::count_equal_into(agreeing, classes, classes);
  CHECK(agreeing() == 3000);
  CHECK(dp::memory_statistics<dp::cpu>().allocations == before);
}
