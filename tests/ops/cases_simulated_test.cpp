// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The cases that tests/ops shares between places (*_case.hpp), on simulated devices.

#include <cstdint>
#include <vector>

#include <devplace/ops/categorical.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/rearrange.hpp>
#include <devplace/tensor/bf16.hpp>

#include "ops/broadcast_case.hpp"
#include "ops/categorical_case.hpp"
#include "ops/rearrange_case.hpp"
#include "ops/reduce_device_case.hpp"
#include "ops/sorting_device_case.hpp"
#include "ops/special_values_case.hpp"
#include "ops/statistics_device_case.hpp"

namespace dp = devplace;
namespace special_values = devplace::test::special_values;
using Catch::Matchers::ContainsSubstring;
using device = dp::on<dp::cuda<1>>;
using backend = devplace::backend::cuda;

TEMPLATE_TEST_CASE("operands on a device may be repeated along any axes, into any view", "[ops][elementwise]", float,
                   devplace::half) {
  broadcast_case::check<devplace::on<devplace::cuda<0>>, TestType>(50);
}

TEST_CASE("a simulated device draws the categories that the CPU draws", "[ops]") {
  const auto rows = dp::normal<float, dp::on<dp::cpu>>(dp::extents<200, 9>{}, dp::seed{3});
  const dp::categorical_options options{.temperature = 0.7, .top_k = 4, .stream = 2};
  CHECK(support::values_of(dp::categorical(dp::to<dp::cuda<1>>(rows), dp::seed{1}, options)) ==
        support::values_of(dp::categorical(rows, dp::seed{1}, options)));
}

TEST_CASE("elements are moved, joined and chosen on a simulated device", "[ops]") {
  dp::test::test_rearrangements<float, device>();
  dp::test::test_parts_of_matrices<float, device>();
  dp::test::test_reversed_views<float, device>();
}

TEST_CASE("linspace and eye on a simulated device", "[ops]") {
  CHECK(support::values_of(dp::linspace<float, dp::cuda<1>>(0, 1, 3)) == std::vector<float>{0, 0.5, 1});
  CHECK(support::values_of(dp::eye<float, dp::cuda<1>>(2)) == std::vector<float>{1, 0, 0, 1});
}

TEST_CASE("a wrong index on a simulated device is an error of the next call that waits", "[ops]") {
  const auto x = dp::to<device>(support::counted<float>(dp::extents<2>{}));
  const auto wrong = dp::to<device>(dp::tensor<std::int64_t, dp::extents<1>, dp::on<dp::cpu>>{2});
  const auto y = dp::take_along(x, wrong, dp::axis<0>{});
  CHECK_THROWS_WITH(dp::to<dp::on<dp::cpu>>(y), ContainsSubstring("take_along: there is no index 2"));
}

TEST_CASE("reductions on simulated devices equal the CPU's", "[ops]") { dp::test::check_reductions<dp::cuda<1>>(); }

TEST_CASE("sums on simulated devices have the same bits in every run", "[ops]") {
  dp::test::check_bits_of_sums<dp::cuda<1>>();
}

TEST_CASE("a simulated device sorts, scans and shuffles as the CPU does", "[ops][sort]") {
  dp::test::check_all_sorts<device>();
  dp::test::check_all_sorts_along_axes<device>();
  dp::test::check_all_sums<device>();
  dp::test::check_all_integer_rows<device>();
  dp::test::check_permutations<device>();
  CHECK(dp::memory_statistics<dp::cuda<1>>().allocated == 0);
}

TEST_CASE("NaN, infinities and -0 in functions of elements, on a simulated device", "[ops]") {
  special_values::check_functions<backend>();
}

TEST_CASE("NaN and infinities in activations and their gradients, on a simulated device", "[ops]") {
  special_values::check_activations<backend>();
}

TEST_CASE("NaN, infinities and -0 in operators, on a simulated device", "[ops]") {
  special_values::check_operators<backend>();
}

TEST_CASE("NaN, infinities and -0 in reductions, on a simulated device", "[ops]") {
  special_values::check_reductions<backend>();
}

TEST_CASE("NaN and infinities in softmax and log_softmax, on a simulated device", "[ops]") {
  special_values::check_softmax<backend>();
}

TEST_CASE("NaN and infinities in cross_entropy, on a simulated device", "[ops]") {
  special_values::check_cross_entropy<backend>();
}

// A simulated device runs the CPU's loops, which statistics_test.cpp checks for the other element types.
TEST_CASE("statistics on simulated devices equal the CPU's", "[ops]") {
  dp::test::check_statistics<dp::cuda<1>, float>();
  dp::test::check_statistics_of<dp::cuda<1>, std::uint8_t>(70, 33);
}

TEST_CASE("statistics of 16-bit elements on simulated devices", "[ops]") {
  dp::test::check_short_statistics<dp::cuda<1>, dp::bf16>();
}
