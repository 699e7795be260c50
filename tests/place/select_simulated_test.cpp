// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/place/first_available.hpp>
#include <string>
#include <type_traits>

#include <devplace/place/select.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

struct name_of {
  template <class Where> std::string operator()(Where) const { return dp::placement_name<Where>(); }
};

std::string select(const char* name) {
  return dp::select<dp::on<dp::cpu>, dp::on<dp::cuda<0>>, dp::on<dp::cuda<1>>, dp::on<dp::cuda<70>>,
                    dp::replicated<0, 1>>(name, name_of{});
}

}  // namespace

TEST_CASE("select finds a placement by each of its spellings", "[place]") {
  CHECK(select("cpu") == "cpu");
  CHECK(select("cuda") == "cuda:0");
  CHECK(select("cuda:0") == "cuda:0");
  CHECK(select("cuda:1") == "cuda:1");
  CHECK(select("replicated<0,1>") == "replicated<cuda:0, cuda:1>");
  CHECK(select("replicated<cuda:0, cuda:1>") == "replicated<cuda:0, cuda:1>");
}

TEST_CASE("select finds a placement of up_to by its name", "[place]") {
  const auto among = [](const char* name) { return dp::select<dp::on<dp::cpu>, dp::up_to<3>>(name, name_of{}); };
  CHECK(among("cuda:0") == "cuda:0");
  CHECK(among("replicated<0,1>") == "replicated<cuda:0, cuda:1>");
  CHECK_THROWS_WITH(among("cuda:1"),
                    Catch::Matchers::ContainsSubstring("choose one of: cpu, replicated<cuda:0, cuda:1, "
                                                       "cuda:2>, replicated<cuda:0, cuda:1>, cuda:0"));
}

TEST_CASE("select gives the reason why a placement is unusable on this machine", "[place]") {
  CHECK_THROWS_AS(select("cuda:70"), dp::placement_unavailable);
  CHECK_THROWS_WITH(select("cuda:70"), Catch::Matchers::ContainsSubstring("DEVPLACE_SIMULATED_DEVICES to 71"));
  CHECK_THROWS_AS(select("cuda:2"), dp::argument_error);
  CHECK_THROWS_WITH(select("cuda:2"), Catch::Matchers::ContainsSubstring(
                                          "choose one of: cpu, cuda:0, cuda:1, cuda:70, replicated<cuda:0, cuda:1>."));
}

TEST_CASE("select and first_available instantiate the function only for their placements", "[place]") {
  const auto devices_only = [](auto where) {
    static_assert(!std::is_same_v<decltype(where), dp::cpu>);
    return dp::placement_name<decltype(where)>();
  };
  CHECK(dp::select<dp::cuda<0>, dp::replicated<0, 1>>("cuda:0", devices_only) == "cuda:0");
  CHECK(dp::first_available<dp::cuda<0>, dp::cuda<1>>(devices_only) == "cuda:0");
  const auto count = [](auto... where) {
    static_assert(sizeof...(where) == 1);
    return sizeof...(where);
  };
  CHECK(dp::select<dp::cuda<0>, dp::cpu>("cpu", count) == 1);
  CHECK(dp::first_available<dp::cuda<0>, dp::cpu>(count) == 1);
}
