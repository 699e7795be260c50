// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <stdexcept>
#include <string>
#include <type_traits>

#include <devplace/base/error.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("every exception is a devplace::error whose text names its origin", "[base]") {
  STATIC_REQUIRE(std::is_base_of_v<std::runtime_error, dp::error>);
  STATIC_REQUIRE(std::is_base_of_v<dp::error, dp::shape_error>);
  STATIC_REQUIRE(std::is_base_of_v<dp::error, dp::argument_error>);
  STATIC_REQUIRE(std::is_base_of_v<dp::error, dp::placement_unavailable>);
  STATIC_REQUIRE(std::is_base_of_v<dp::error, dp::out_of_memory>);
  STATIC_REQUIRE(std::is_base_of_v<dp::error, dp::device_lost>);
  STATIC_REQUIRE(std::is_base_of_v<dp::error, dp::file_error>);
  CHECK(std::string(dp::shape_error("2x3 and 3x2.").what()) == "devplace: 2x3 and 3x2.");
}
