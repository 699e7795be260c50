// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/parallel_for.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#include <devplace/ops/creation.hpp>
#include <devplace/tensor/item.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;

namespace {

/// Writes i + 10 j to row i and column j.
struct number_elements {
  float* to;
  std::size_t columns;
  DEVPLACE_HD void operator()(std::size_t i, std::size_t j) const {
    to[i * columns + j] = static_cast<float>(i + 10 * j);
  }
};
struct read_element {
  const float* from;
  DEVPLACE_HD float operator()(std::size_t i) const { return from[i]; }
};

}  // namespace

TEST_CASE("parallel_for and parallel_reduce on a simulated device", "[ops]") {
  auto x = dp::zeros<float, dp::cuda<1>>(2, 3);
  dp::parallel_for(dp::cuda<1>{}, x.extents(), number_elements{std::to_address(x.data()), 3});
  CHECK(support::values_of(x) == std::vector<float>{0, 10, 20, 1, 11, 21});
  auto y = dp::zeros<float, dp::cuda<1>>(2, 3);
  dp::parallel_for(y, y.extents(), number_elements{std::to_address(y.data()), 3});
  CHECK(support::values_of(y) == support::values_of(x));
  const read_element element{std::to_address(x.data())};
  CHECK(dp::item(dp::parallel_reduce(dp::cuda<1>{}, dp::extents<6>{}, element)) == 63);
  CHECK(dp::item(dp::parallel_reduce<dp::reduction::max>(dp::cuda<1>{}, dp::extents<6>{}, element)) == 21);
}

TEST_CASE("a loop on a device that does not exist is an error", "[ops]") {
  CHECK_THROWS_AS(dp::parallel_for(dp::cuda<63>{}, dp::extents<2>{}, read_element{nullptr}), dp::placement_unavailable);
}
