// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <string>
#include <type_traits>

#include <devplace/place/select.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

struct cpu_only {
  template <class Where> std::string operator()(Where) const {
    static_assert(std::is_same_v<Where, dp::on<dp::cpu>>);
    return dp::placement_name<Where>();
  }
};

std::string select(const char* name) {
  return dp::select<dp::on<dp::cpu>, dp::on<dp::cuda<0>>, dp::replicated<0, 1>>(name, cpu_only{});
}

}  // namespace

TEST_CASE("select chooses the placement by name", "[place]") { CHECK(select("cpu") == "cpu"); }

TEST_CASE("select gives the reason why a placement is unusable in this build", "[place]") {
  for (const char* name : {"cuda", "cuda:0", "replicated<0,1>", "replicated<cuda:0, cuda:1>"}) {
    INFO(name);
    CHECK_THROWS_AS(select(name), dp::placement_unavailable);
    CHECK_THROWS_WITH(select(name), Catch::Matchers::ContainsSubstring("add devplace::cuda"));
  }
}

TEST_CASE("select rejects any other name and lists the program's placements", "[place]") {
  for (const char* name : {"", "CPU", "gpu", "cuda:", "cuda:1", "cuda:00", "cuda:0x", "cuda:-0", "replicated", "cpu:0",
                           "replicated<1,0>", "on<cpu>", "cpu\n"}) {
    INFO(name);
    CHECK_THROWS_AS(select(name), dp::argument_error);
  }
  CHECK_THROWS_WITH(select("cuda:9"),
                    Catch::Matchers::ContainsSubstring("\"cuda:9\" is not a placement of this program; choose one of: "
                                                       "cpu, cuda:0 (not in this build), "
                                                       "replicated<cuda:0, cuda:1> (not in this build)."));
}
