// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/place/axis.hpp>

#include <type_traits>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("an axis is an empty type that carries its index", "[place]") {
  STATIC_REQUIRE(dp::axis<0>::index == 0);
  STATIC_REQUIRE(dp::axis<2>::index == 2);
  STATIC_REQUIRE(std::is_empty_v<dp::axis<2>>);
  STATIC_REQUIRE(!std::is_same_v<dp::axis<0>, dp::axis<1>>);
}
