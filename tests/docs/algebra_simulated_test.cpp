// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code that docs/algebra.md quotes.

#include <concepts>
#include <type_traits>
#include <vector>

#include <devplace/core.hpp>
#include <devplace/parallel.hpp>

#include "ops/distributed_tensors.hpp"
#include "support/catch.hpp"

namespace dp = devplace;
using dp::test::distributed_numbers;

namespace {

using whole = dp::replicated<0, 1>;
using rows = dp::sharded<dp::axis<0>, 0, 1>;
using sums = dp::partial<dp::reduction::sum, 0, 1>;

}  // namespace

TEST_CASE("docs/algebra.md: a layer by hand", "[docs]") {
  const auto x = distributed_numbers<rows>(dp::extents<dp::dyn, 3>(5), 1);
  const auto w = distributed_numbers<whole>(dp::extents<3, 4>{}, 2);
  const auto b = distributed_numbers<whole>(dp::extents<4>{}, 3);
  dp::tensor y = dp::relu(dp::matmul(x, w) + b);  // x sharded<axis<0>, 0, 1>, w and b replicated<0, 1>: y is sharded
  dp::tensor dy = y * 0.5f;                       // one pass on each GPU, concurrently
  auto dw = dp::matmul(dp::transposed(x), dy);    // partial<reduction::sum, 0, 1>: every GPU has the sum over its rows
  auto db = dp::sum(dy, dp::axis<0>{});           // partial as well: the sum is over rows
  dw *= 0.2f;                                     // the sum of the scaled summands is the scaled sum
  STATIC_REQUIRE(std::same_as<decltype(y)::placement_type, rows>);
  STATIC_REQUIRE(std::same_as<decltype(dw)::placement_type, sums>);
  STATIC_REQUIRE(std::same_as<decltype(db)::placement_type, sums>);
  CHECK(dp::test::value_of(db).size() == 4);
}
