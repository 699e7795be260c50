// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/parse_number.hpp>

#include "support/catch.hpp"

TEST_CASE("a whole number is all of a text, from 0 to the largest int", "[base]") {
  using devplace::detail::whole_number;
  CHECK(whole_number("0") == 0);
  CHECK(whole_number("2147483647") == 2147483647);
  for (const char* const text : {"", "-1", "+1", " 1", "1 ", "1.0", "0x1", "2147483648", "one"}) {
    INFO('"' << text << '"');
    CHECK(whole_number(text) == -1);
  }
}
