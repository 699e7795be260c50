// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/rearrange.hpp>

#include <cstdint>
#include <vector>

#include <devplace/ops/creation.hpp>

#include "ops/rearrange_case.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using device = dp::on<dp::cuda<1>>;

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
