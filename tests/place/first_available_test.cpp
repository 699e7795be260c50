// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <string>
#include <type_traits>

#include <devplace/place/first_available.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

/// Does not compile for a cuda placement, like a function that creates a tensor there without a component.
struct cpu_only {
  template <class Where> std::string operator()(Where) const {
    static_assert(std::is_same_v<Where, dp::on<dp::cpu>>);
    return dp::placement_name<Where>();
  }
};

}  // namespace

TEST_CASE("without a component cuda placements are skipped at compile time", "[place]") {
  CHECK(dp::first_available<dp::replicated<0, 1, 2>, dp::on<dp::cuda<0>>, dp::on<dp::cpu>>(cpu_only{}) == "cpu");
  CHECK(dp::first_available<dp::on<dp::cpu>, dp::on<dp::cuda<0>>>(cpu_only{}) == "cpu");
  CHECK(dp::first_available<dp::up_to<8>, dp::on<dp::cpu>>(cpu_only{}) == "cpu");
  CHECK(dp::device_count() == 0);
}

TEST_CASE("first_available calls its function once and propagates its exception", "[place]") {
  int calls = 0;
  dp::first_available<dp::on<dp::cpu>, dp::replicated_on<dp::cpu>>([&](auto) { ++calls; });
  CHECK(calls == 1);
  CHECK_THROWS_AS(dp::first_available<dp::on<dp::cpu>>([](auto) { throw dp::shape_error("x"); }), dp::shape_error);
}

TEST_CASE("first_available returns a reference if its function does", "[place]") {
  int value = 1;
  dp::first_available<dp::on<dp::cpu>>([&](auto) -> int& { return value; }) = 5;
  CHECK(value == 5);
}
