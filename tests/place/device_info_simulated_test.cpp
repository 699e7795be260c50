// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <string>

#include <devplace/place/availability.hpp>
#include <devplace/place/device_info.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("simulated devices are listed after the CPU with a description", "[place]") {
  const auto found = dp::list_devices();
  REQUIRE(found.size() == 1 + static_cast<std::size_t>(dp::detail::simulated_device_count()));
  CHECK(found[0].place == "cpu");
  for (std::size_t i = 1; i < found.size(); ++i) {
    CHECK(found[i].place == "cuda:" + std::to_string(i - 1));
    CHECK_THAT(found[i].processor, Catch::Matchers::ContainsSubstring("simulated"));
    CHECK_THAT(found[i].support, Catch::Matchers::ContainsSubstring("simulated CUDA"));
    CHECK(found[i].memory_total > 0);
  }
  CHECK_THAT(dp::cuda_support_description(), Catch::Matchers::ContainsSubstring("simulated CUDA") &&
                                                 Catch::Matchers::ContainsSubstring("numbered by CUDA_DEVICE_ORDER="));
  for (std::size_t i = 1; i < found.size(); ++i)
    CHECK(found[i].peers.size() == found.size() - 2);  // every device can access all others
  CHECK(found[0].peers.empty());
}

TEST_CASE("information about one place equals its list entry", "[place]") {
  const auto found = dp::list_devices();
  CHECK(dp::device_count() == static_cast<int>(found.size()) - 1);
  CHECK(dp::device_information_of<dp::cpu>().processor == found[0].processor);
  CHECK(dp::device_information_of<dp::cuda<1>>().place == "cuda:1");
  CHECK_THROWS_WITH(dp::device_information_of<dp::cuda<70>>(),
                    Catch::Matchers::ContainsSubstring("cuda:70 cannot be used: cuda:70 does not exist"));
}
