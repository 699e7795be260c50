// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <string>

#include <devplace/base/options.hpp>

#include "support/catch.hpp"

namespace {

struct any_range {};

struct with_options {
  static constexpr const char* name = "with_options";
  int count = 2;
  double rate = 0.5;

  static void for_each_option(auto& self, auto&& f) {
    f("count", self.count);
    f("rate", self.rate, any_range{});
  }
};

}  // namespace

TEST_CASE("for_each_option passes names and values without ranges", "[base]") {
  const with_options options;
  std::string seen;
  devplace::detail::for_each_option(
      options, [&](const char* name, const auto& value) { seen += name + std::to_string(value) + " "; });
  CHECK(seen == "count2 rate0.500000 ");
  static_assert(devplace::detail::has_options<with_options> && devplace::detail::has_options<const with_options>);
}

TEST_CASE("for_each_option gives the members of objects to be written", "[base]") {
  with_options options;
  devplace::detail::for_each_option(options, [](const char*, auto& value) { value *= 2; });
  CHECK(options.count == 4);
  CHECK(options.rate == 1);
}

TEST_CASE("for_each_option passes nothing for types without options", "[base]") {
  int number = 1, calls = 0;
  devplace::detail::for_each_option(number, [&](const char*, auto&) { ++calls; });
  CHECK(calls == 0);
  static_assert(!devplace::detail::has_options<int>);
}
