// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Uses every part of Catch2 that tests may use, in the spelling shared by versions 2.13 and 3 through
// support/catch.hpp.

#include "support/catch.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

TEST_CASE("the shim has the assertions of both Catch2 versions", "[support]") {
  STATIC_REQUIRE(sizeof(char) == 1);
  REQUIRE(1 + 1 == 2);
  CHECK_FALSE(1 == 2);
  CHECK(0.1 + 0.2 == Catch::Approx(0.3));
  CHECK_THAT(0.1 + 0.2, Catch::Matchers::WithinRel(0.3, 1e-12));
  CHECK_THAT(0.1 + 0.2, Catch::Matchers::WithinAbs(0.3, 1e-12));
  CHECK_THAT(0.1 + 0.2, Catch::Matchers::WithinULP(0.3, 4));
  CHECK_THAT("a whole sentence", Catch::Matchers::ContainsSubstring("whole"));
  CHECK_NOTHROW(std::vector<int>(3).at(2));
  CHECK_THROWS_AS(std::vector<int>(3).at(3), std::out_of_range);
  CHECK_THROWS_WITH(throw std::runtime_error("a whole sentence"), Catch::Matchers::ContainsSubstring("whole"));
}

TEST_CASE("the shim has generators and sections", "[support]") {
  const int i = GENERATE(1, 2, 3);
  CAPTURE(i);
  SECTION("small") {
    INFO("i is " << i);
    CHECK(i < 4);
  }
}

TEMPLATE_TEST_CASE("the shim has test cases of types", "[support]", int, double, (std::pair<int, float>)) {
  CHECK(sizeof(TestType) >= 4);
}

TEST_CASE("a test can skip itself", "[support]") {
  if (std::vector<int>{}.empty())
    SUCCEED("DEVPLACE_SKIP is compiled here and not run: a skip would be counted");
  else
    DEVPLACE_SKIP("never");
}

// Run by a test of its own, which requires that it fails.
TEST_CASE("four failed assertions", "[.][support]") {
  for (int i = 0; i != 4; ++i) CHECK(i > 4);
}
