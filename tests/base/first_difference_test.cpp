// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/first_difference.hpp>

#include <string>

#include "support/catch.hpp"

TEST_CASE("the first lines that differ are found, also where one text ends", "[base]") {
  struct example {
    std::string first, second, in_first, in_second;
  };
  for (const example& e : {example{"a\nb\nc", "a\nx\nc", "b", "x"}, example{"ab", "ac", "ab", "ac"},
                           example{"a\n", "a\nb", "nothing more", "b"}, example{"", "a", "nothing more", "a"},
                           example{"one\ntwo", "one\ntwice", "two", "twice"}}) {
    const auto [in_first, in_second] = devplace::detail::first_difference(e.first, e.second);
    CHECK(in_first == e.in_first);
    CHECK(in_second == e.in_second);
  }
}
