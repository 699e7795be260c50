// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/take_rows.hpp>

#include <cstdint>
#include <vector>

#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using device = dp::on<dp::cuda<1>>;
using host = dp::on<dp::cpu>;
using indices_of_two = dp::tensor<std::int64_t, dp::extents<2>, host>;

TEST_CASE("take_rows on a simulated device", "[ops]") {
  const auto x = dp::to<device>(support::counted<float>(dp::extents<3, 2>{}));
  const auto y = dp::take_rows(x, dp::to<device>(indices_of_two{2, 0}));
  CHECK(support::values_of(y) == std::vector<float>{4, 5, 0, 1});
}

TEST_CASE("an index out of range on a simulated device is an error of the next call that waits", "[ops]") {
  const auto x = dp::to<device>(support::counted<float>(dp::extents<3, 2>{}));
  const auto indices = dp::to<device>(indices_of_two{2, 3});
  const auto y = dp::take_rows(x, indices);
  CHECK_THROWS_WITH(dp::to<host>(y), ContainsSubstring("take_rows: index 3 at position 1"));
  CHECK(support::values_of(x).size() == 6);  // the device is still usable
}
