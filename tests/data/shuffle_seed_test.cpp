// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/data/shuffle_seed.hpp>

#include <optional>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("a random order has a seed; none is the order of the data", "[data]") {
  CHECK(!dp::shuffle_seed{}.has_value());
  CHECK(!dp::shuffle_seed(std::nullopt).has_value());
  CHECK(!dp::shuffle_seed(std::optional<dp::seed>{}).has_value());
  CHECK(dp::shuffle_seed(dp::seed{3})->value == 3);
  CHECK(dp::shuffle_seed(std::optional(dp::seed{4}))->value == 4);
}

TEST_CASE("orders are equal for equal seeds, and without a seed", "[data]") {
  const dp::shuffle_seed none, zero = dp::seed{0}, one = dp::seed{1};
  CHECK((none == dp::shuffle_seed{}));
  CHECK((one == dp::shuffle_seed{dp::seed{1}}));
  CHECK((one != zero));
  CHECK((none != zero));
  CHECK((zero == dp::seed{0}));
}
