// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/joined.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <devplace/base/error.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::detail::joined;

TEST_CASE("texts and numbers of every type are joined", "[base]") {
  const std::string name = "x";
  const std::string_view view = std::string_view("y and more").substr(0, 1);
  CHECK(joined({}).empty());
  CHECK(joined({"a", name, view, std::string_view(), "", "b"}) == "axyb");
  CHECK(joined({std::size_t{0}, " ", 7, " ", -7, " ", 7U, " ", std::int64_t{-1}}) == "0 7 -7 7 -1");
}

TEST_CASE("the largest and smallest numbers are written with all digits", "[base]") {
  CHECK(joined({std::numeric_limits<std::uint64_t>::max()}) == "18446744073709551615");
  CHECK(joined({std::numeric_limits<std::int64_t>::max()}) == "9223372036854775807");
  CHECK(joined({std::numeric_limits<std::int64_t>::min()}) == "-9223372036854775808");
}

TEST_CASE("a text with zero bytes keeps them", "[base]") {
  const std::string with_zero("a\0b", 3);
  CHECK(joined({with_zero, "c"}) == std::string("a\0bc", 4));
}

TEST_CASE("a character is no part, because it would be written as a number", "[base]") {
  CHECK_FALSE(std::is_constructible_v<dp::detail::text_part, char>);
}

TEST_CASE("an error's message is given as text or in parts", "[base]") {
  CHECK(std::string(dp::argument_error("batch 3 is empty").what()) == "devplace: batch 3 is empty");
  CHECK(std::string(dp::argument_error({"batch ", 3, " is empty"}).what()) == "devplace: batch 3 is empty");
  // These parts could be the arguments of std::string's constructor from a pointer and a size.
  CHECK(std::string(dp::error({"size ", 3U}).what()) == "devplace: size 3");
}
