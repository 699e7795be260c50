// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/place/first_available.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

struct name {
  template <class Where> std::string operator()(Where) const { return dp::placement_name<Where>(); }
};

}  // namespace

TEST_CASE("the first placement whose devices exist is chosen", "[place]") {
  CHECK(dp::first_available<dp::replicated<0, 1, 2>, dp::on<dp::cuda<0>>, dp::on<dp::cpu>>(name{}) ==
        "replicated<cuda:0, cuda:1, cuda:2>");
  CHECK(dp::first_available<dp::replicated<0, 70>, dp::on<dp::cuda<1>>, dp::on<dp::cpu>>(name{}) == "cuda:1");
  CHECK(dp::first_available<dp::on<dp::cuda<70>>, dp::on<dp::cpu>>(name{}) == "cpu");
}

TEST_CASE("up_to stands for as many devices as exist", "[place]") {
  CHECK(dp::device_count() == 4);
  CHECK(dp::first_available<dp::up_to<8>, dp::on<dp::cpu>>(name{}) == "replicated<cuda:0, cuda:1, cuda:2, cuda:3>");
  CHECK(dp::first_available<dp::up_to<3>, dp::on<dp::cpu>>(name{}) == "replicated<cuda:0, cuda:1, cuda:2>");
  CHECK(dp::first_available<dp::up_to<1>, dp::on<dp::cpu>>(name{}) == "cuda:0");
  CHECK(dp::first_available<dp::on<dp::cuda<70>>, dp::up_to<2>>(name{}) == "replicated<cuda:0, cuda:1>");
}

TEST_CASE("if no placement is usable, the error gives a reason for each", "[place]") {
  CHECK_THROWS_AS((dp::first_available<dp::on<dp::cuda<70>>>(name{})), dp::placement_unavailable);
  CHECK_THROWS_WITH((dp::first_available<dp::replicated<0, 70>, dp::on<dp::cuda<71>>>(name{})),
                    Catch::Matchers::ContainsSubstring("replicated<cuda:0, cuda:70>: cuda:70 does not exist") &&
                        Catch::Matchers::ContainsSubstring("cuda:71: cuda:71 does not exist") &&
                        Catch::Matchers::ContainsSubstring("DEVPLACE_SIMULATED_DEVICES"));
}
