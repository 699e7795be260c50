// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/item.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using on_cpu = dp::on<dp::cpu>;

TEST_CASE("item reads the only element, for any rank", "[tensor]") {
  const dp::tensor<float, dp::extents<1>, on_cpu> row{7};
  CHECK(dp::item(row) == 7);
  CHECK(dp::item(row.view().reshape(dp::extents<1, 1, 1>{})) == 7);
  CHECK(dp::item(row.view().reshape(dp::extents<>{})) == 7);
}

TEST_CASE("item rejects run-time extents of another size", "[tensor]") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{2}}) {
    const dp::tensor<float, dp::extents<dp::dyn>, on_cpu> x(dp::extents<dp::dyn>{size});
    CHECK_THROWS_WITH(dp::item(x), Catch::Matchers::ContainsSubstring("index it or reduce it first"));
  }
}
