// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/reduce_into.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/random_values.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include <devplace/memory/statistics.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/rearrange.hpp>
#include <devplace/tensor/transposed.hpp>

namespace dp = devplace;
using dp::test::random_values;
using support::values_of;
using on_cpu = dp::on<dp::cpu>;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// 0, 1, ... 23 as 2 x 3 x 4.
template <class T> dp::tensor<T, dp::extents<2, 3, 4>, on_cpu> box() {
  dp::tensor<T, dp::extents<2, 3, 4>, on_cpu> x;
  for (std::size_t i = 0; i != x.size(); ++i) x.data()[i] = static_cast<T>(static_cast<int>(i));
  return x;
}

}  // namespace

TEST_CASE("sum_into overwrites the result, or adds to it", "[ops]") {
  const dp::tensor<float, dp::extents<3, 2>, on_cpu> x{{1, 2}, {3, 4}, {5, 6}};
  dp::tensor<float, dp::extents<2>, on_cpu> y{nan_value, nan_value};
  dp::sum_into(y, x, dp::axis<0>{});  // must not read y
  CHECK(values_of(y) == std::vector<float>{9, 12});
  dp::sum_into(y.view(), x.view(), {.accumulate = true}, dp::axis<0>{});
  CHECK(values_of(y) == std::vector<float>{18, 24});
  dp::sum_into(y.view().erased(), x.view().erased(), {.accumulate = true}, dp::axis<0>{});
  CHECK(values_of(y) == std::vector<float>{27, 36});
  dp::sum_into(y, x.slice(0, 0), 0);
  CHECK(values_of(y) == std::vector<float>{0, 0});
  dp::tensor<float, dp::extents<>, on_cpu> total;
  dp::sum_into(total, x);
  CHECK(total() == 21);
  dp::tensor<float, dp::dextents<1>, on_cpu> wrong(dp::dextents<1>{3});
  CHECK_THROWS_AS(dp::sum_into(wrong, x, dp::axis<0>{}), dp::shape_error);
  CHECK_THROWS_AS(dp::sum_into(y, x, 1), dp::shape_error);
}

TEST_CASE("reductions write to existing memory along any axes", "[ops]") {
  const auto x = box<double>();
  dp::tensor<double, dp::extents<3>, on_cpu> of_rows;
  dp::mean_into(of_rows, x, dp::axis<0>{}, dp::axis<2>{});
  CHECK(values_of(of_rows) == std::vector<double>{7.5, 11.5, 15.5});
  dp::tensor<double, dp::extents<2, 4>, on_cpu> of_columns;
  dp::max_into(of_columns, x, dp::axis<1>{});
  CHECK(values_of(of_columns) == std::vector<double>{8, 9, 10, 11, 20, 21, 22, 23});
  dp::min_into(of_columns, x, -2);
  CHECK(values_of(of_columns) == std::vector<double>{0, 1, 2, 3, 12, 13, 14, 15});
  CHECK_THROWS_AS(dp::max_into(of_columns, x.view().slice(0, 2).slice(dp::axis<1>{}, 0, 0), 1), dp::argument_error);
  dp::tensor<std::int64_t, dp::extents<2, 3>, on_cpu> counts;
  dp::sum_into(counts, box<std::uint8_t>(), dp::axis<2>{});
  CHECK(values_of(counts) == std::vector<std::int64_t>{6, 22, 38, 54, 70, 86});
}

TEST_CASE("reductions write to views with strides", "[ops]") {
  const auto x = box<float>();
  dp::tensor<float, dp::extents<4, 6>, on_cpu> all;
  dp::fill(all, -1);
  dp::sum_into(dp::transposed(all).slice(1, 3), x, dp::axis<1>{});
  dp::mean_into(all.slice(dp::axis<1>{}, 3, 6).slice(0, 2), x, dp::axis<2>{});
  dp::max_into(all.slice(dp::axis<1>{}, 5, 6).slice(3, 4), x.reshape(dp::extents<1, 1, 24>{}), dp::axis<2>{});
  CHECK(values_of(all) == std::vector<float>{-1, 12, 48, 1.5, 5.5, 9.5, -1, 15, 51, 13.5, 17.5, 21.5,  //
                                             -1, 18, 54, -1,  -1,  -1,  -1, 21, 57, -1,   -1,   23});
  dp::sum_into(dp::transposed(all).slice(1, 3), x, {.accumulate = true}, dp::axis<1>{});
  CHECK(all(3, 2) == 114);
  CHECK(all(3, 3) == -1);
  const dp::tensor<float, dp::extents<3, 2>, on_cpu> pairs{{1, 2}, {3, 4}, {5, 6}};
  dp::tensor<float, dp::extents<2>, on_cpu> y;
  dp::sum_into(dp::reversed(y, dp::axis<0>{}), dp::reversed(pairs, dp::axis<0>{}), dp::axis<0>{});
  CHECK(values_of(y) == std::vector<float>{12, 9});
}

TEST_CASE("reductions of expressions and views write to existing memory", "[ops]") {
  const auto x = box<float>();
  dp::tensor<float, dp::extents<4>, on_cpu> y{1, 2, 3, 4};
  dp::sum_into(y, x * 2.0F + y, dp::axis<0>{}, dp::axis<1>{});  // y is read before it is written
  CHECK(values_of(y) == std::vector<float>{126, 144, 162, 180});
  dp::sum_into(y.view().erased(), x.view().erased() - 1.0F, dp::axis<0>{}, dp::axis<1>{});
  CHECK(values_of(y) == std::vector<float>{54, 60, 66, 72});
  dp::tensor<float, dp::extents<3>, on_cpu> of_rows;
  dp::max_into(of_rows, dp::transposed(x.reshape(dp::extents<8, 3>{})), dp::axis<1>{});
  CHECK(values_of(of_rows) == std::vector<float>{21, 22, 23});
}

TEST_CASE("sums and means of 16-bit elements are rounded once to float", "[ops]") {
  dp::tensor<dp::half, dp::extents<3, 1>, on_cpu> x{{dp::half(2048.0F)}, {dp::half(1.0F)}, {dp::half(1.0F)}};
  dp::tensor<float, dp::extents<1>, on_cpu> y;
  dp::sum_into(y, x, dp::axis<0>{});
  CHECK(y(0) == 2050);
  dp::mean_into(y, x.slice(0, 2), dp::axis<0>{});
  CHECK(y(0) == 1024.5F);
  dp::tensor<dp::half, dp::extents<1>, on_cpu> rounded;
  dp::max_into(rounded, x, dp::axis<0>{});
  CHECK(static_cast<float>(rounded(0)) == 2048);
}

TEST_CASE("reductions refuse results in the operand's memory", "[ops]") {
  dp::tensor<float, dp::extents<4, 6>, on_cpu> all;
  for (std::size_t i = 0; i != all.size(); ++i) all.data()[i] = static_cast<float>(i);
  CHECK_THROWS_AS(dp::sum_into(all[3], all, dp::axis<0>{}), dp::argument_error);
  dp::sum_into(all[3], all.slice(0, 3), dp::axis<0>{});
  CHECK(all(3, 5) == 33);
  const auto columns = all.slice(dp::axis<1>{}, 0, 5);
  CHECK_THROWS_AS(dp::mean_into(all.select(dp::axis<1>{}, 4), columns, dp::axis<1>{}), dp::argument_error);
  dp::mean_into(all.select(dp::axis<1>{}, 5), columns, dp::axis<1>{});
  CHECK(all(0, 5) == 2);
  CHECK(all(1, 5) == 8);
  const dp::tensor doubled = 2.0F * all;
  dp::sum_into(all[1], 2.0F * all, dp::axis<0>{});  // an expression may share memory with the result
  CHECK(values_of(all[1]) == values_of(dp::sum(doubled, dp::axis<0>{})));
}

TEST_CASE("reductions into existing memory allocate nothing on the CPU", "[ops]") {
  const auto x = random_values<float>(dp::dextents<2>{3000, 100}, 5);
  dp::tensor<float, dp::extents<100, 2>, on_cpu> columns;
  const auto before = dp::memory_statistics<dp::cpu>().allocations;
  dp::sum_into(columns.select(dp::axis<1>{}, 0), x, dp::axis<0>{});
  dp::max_into(columns.reshape(dp::extents<2, 100>{})[0], x, dp::axis<0>{});
  dp::sum_into(columns.select(dp::axis<1>{}, 1), 2.0F * x * x - x, {.accumulate = true}, dp::axis<0>{});
  CHECK(dp::memory_statistics<dp::cpu>().allocations == before);
}

TEMPLATE_TEST_CASE("expressions that are computed while they are reduced have the bits of stored ones", "[ops]", float,
                   dp::half) {
  const auto x = random_values<TestType>(dp::dextents<3>{7, 300, 20}, 5), y = random_values<TestType>(x.extents(), 6);
  const auto check = [&](auto... axis) {
    const dp::tensor stored = x * y - x;
    CHECK(values_of(dp::sum(x * y - x, axis...)) == values_of(dp::sum(stored, axis...)));
    CHECK(values_of(dp::max(x * y - x, axis...)) == values_of(dp::max(stored, axis...)));
  };
  check();
  check(dp::axis<0>{});
  check(dp::axis<2>{});
  check(dp::axis<1>{}, dp::axis<2>{});
  check(dp::axis<0>{}, dp::axis<2>{});
}
