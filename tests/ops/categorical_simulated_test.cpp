// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/categorical.hpp>

#include "ops/categorical_case.hpp"

namespace dp = devplace;

TEST_CASE("a simulated device draws the categories that the CPU draws", "[ops]") {
  const auto rows = dp::normal<float, dp::on<dp::cpu>>(dp::extents<200, 9>{}, dp::seed{3});
  const dp::categorical_options options{.temperature = 0.7, .top_k = 4, .stream = 2};
  CHECK(support::values_of(dp::categorical(dp::to<dp::cuda<1>>(rows), dp::seed{1}, options)) ==
        support::values_of(dp::categorical(rows, dp::seed{1}, options)));
}
