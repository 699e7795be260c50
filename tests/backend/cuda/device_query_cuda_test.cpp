// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <string>

#include <devplace/place/first_available.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;

TEST_CASE("CUDA devices are listed after the CPU with name, SMs and memory", "[backend]") {
  const auto found = dp::list_devices();
  REQUIRE(found.size() == 1 + static_cast<std::size_t>(dp::detail::cuda_devices().count));
  for (std::size_t i = 1; i < found.size(); ++i) {
    CHECK(found[i].place == "cuda:" + std::to_string(i - 1));
    CHECK_FALSE(found[i].processor.empty());
    CHECK(found[i].units > 0);
    CHECK(std::string(found[i].unit_name) == "SMs");
    CHECK(found[i].memory_free > 0);
    CHECK(found[i].memory_free <= found[i].memory_total);
    CHECK_THAT(found[i].support, Catch::Matchers::ContainsSubstring("compute capability"));
  }
  CHECK_THAT(dp::cuda_support_description(), Catch::Matchers::ContainsSubstring("CUDA "));
}

TEST_CASE("the first placement is the device where there is one, else the CPU", "[backend]") {
  const auto name = [](auto where) { return dp::placement_name<decltype(where)>(); };
  const bool have = dp::detail::cuda_devices().count > 0;
  CHECK(dp::available<dp::on<dp::cuda<0>>>() == have);
  CHECK(dp::first_available<dp::on<dp::cuda<0>>, dp::on<dp::cpu>>(name) == (have ? "cuda:0" : "cpu"));
  CHECK_THROWS_AS((dp::first_available<dp::on<dp::cuda<99>>>(name)), dp::placement_unavailable);
}
