// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/parse_number.hpp>

#include <system_error>

#include "support/catch.hpp"

TEST_CASE("a number is all of a text", "[base]") {
  using devplace::detail::parse_number;
  double real = -1;
  CHECK(parse_number("2.5e3", real) == std::errc{});
  CHECK(real == 2500);
  unsigned char small = 0;
  CHECK(parse_number("256", small) == std::errc::result_out_of_range);
  for (const char* const text : {"", " 1", "1 ", "1x", "+1", "-1", "one"}) {
    INFO('"' << text << '"');
    CHECK(parse_number(text, small) == std::errc::invalid_argument);
  }
}
