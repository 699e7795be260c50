// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <string>
#include <vector>

#include <devplace/backend/simulated/driver.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::detail::parse_simulated_device_count;
using dp::detail::parse_visible_devices;
using dp::detail::simulated_driver;
using ordinals = std::vector<int>;

TEST_CASE("DEVPLACE_SIMULATED_DEVICES is read strictly", "[backend]") {
  CHECK(parse_simulated_device_count(nullptr) == 4);
  CHECK(parse_simulated_device_count("0") == 0);
  CHECK(parse_simulated_device_count("1") == 1);
  CHECK(parse_simulated_device_count("64") == 64);
  for (const char* wrong :
       {"", " ", "-1", "65", "4 ", " 4", "4x", "x", "0x2", "1e1", "2.0", "99999999999999999999", "+4"}) {
    INFO(wrong);
    CHECK_THROWS_AS(parse_simulated_device_count(wrong), dp::argument_error);
    CHECK_THROWS_WITH(
        parse_simulated_device_count(wrong),
        ContainsSubstring("DEVPLACE_SIMULATED_DEVICES is \"" + std::string(wrong)) && ContainsSubstring("0 to 64"));
  }
}

TEST_CASE("DEVPLACE_SIMULATED_PEERS is read strictly", "[backend]") {
  CHECK(simulated_driver("2", nullptr).peers());
  CHECK(simulated_driver("2", nullptr, "1").peers());
  CHECK_FALSE(simulated_driver("2", nullptr, "0").peers());
  for (const char* wrong : {"", "2", "no", "0 "})
    CHECK_THROWS_WITH(simulated_driver("2", nullptr, wrong), ContainsSubstring("DEVPLACE_SIMULATED_PEERS is \""));
}

TEST_CASE("CUDA_VISIBLE_DEVICES chooses and renumbers as CUDA's driver does", "[backend]") {
  CHECK(parse_visible_devices(nullptr, 3) == ordinals{0, 1, 2});
  CHECK(parse_visible_devices("2,0", 3) == ordinals{2, 0});
  CHECK(parse_visible_devices("2, 1", 3) == ordinals{2, 1});
  CHECK(parse_visible_devices("1", 3) == ordinals{1});
  CHECK(parse_visible_devices("+2", 3) == ordinals{2});
  CHECK(parse_visible_devices("-0", 3) == ordinals{0});
  CHECK(parse_visible_devices(" +1, -0,\t+2\n", 3) == ordinals{1, 0, 2});
  CHECK(parse_visible_devices("01,00", 3) == ordinals{1, 0});
  CHECK(parse_visible_devices("0,-0", 3).empty());
  for (const char* none : {"+", "-", "+-1", "+ 1", "+3", "-+0"}) CHECK(parse_visible_devices(none, 3).empty());
  CHECK(parse_visible_devices("1gpu2,2ampere", 3) == ordinals{1, 2});
  CHECK(parse_visible_devices("", 3).empty());
  CHECK(parse_visible_devices("-1", 3).empty());
  CHECK(parse_visible_devices("0,1,-1,2", 3) == ordinals{0, 1});
  CHECK(parse_visible_devices("1,3,0", 3) == ordinals{1});
  CHECK(parse_visible_devices("1,,0", 3) == ordinals{1});
  CHECK(parse_visible_devices("0,", 3) == ordinals{0});
  CHECK(parse_visible_devices("0,99999999999", 3) == ordinals{0});
  CHECK(parse_visible_devices("GPU-5d9c1a2b", 3).empty());
  CHECK(parse_visible_devices("0,1,0", 3).empty());
  CHECK(parse_visible_devices("0", 0).empty());
}

TEST_CASE("the error of a missing device names the visible devices and the settings", "[backend]") {
  const simulated_driver all("2", nullptr);
  CHECK(all.visible_count() == 2);
  CHECK(all.why_absent(2) ==
        "cuda:2 does not exist: this program simulates 2 CUDA device(s), counted from 0; set the environment variable "
        "DEVPLACE_SIMULATED_DEVICES to 3 or more, or use a lower ordinal");
  const simulated_driver some(nullptr, "2,3");
  CHECK(some.physical_count() == 4);
  CHECK(some.physical(1) == 3);
  CHECK(some.why_absent(2) ==
        "cuda:2 does not exist: of 4 simulated CUDA device(s) 2 are visible, because the environment variable "
        "CUDA_VISIBLE_DEVICES is \"2,3\" (cuda:0 is physical device 2, cuda:1 is physical device 3); list 3 or more "
        "different devices in the variable, or unset it, or use a lower ordinal");
  const simulated_driver none("4", "");
  CHECK(none.visible_count() == 0);
  CHECK_THAT(none.why_absent(0), ContainsSubstring("0 are visible") && ContainsSubstring("is \"\";") &&
                                     ContainsSubstring("list 1 or more") && ContainsSubstring("run on cpu"));
  CHECK_THAT(simulated_driver("4", "0,7").why_absent(1),
             ContainsSubstring("up to the first entry that is not a device from 0 to 3"));
  CHECK_THAT(simulated_driver("4", "1,1").why_absent(0), ContainsSubstring("empty if a device occurs twice"));
  CHECK_THAT(simulated_driver("1", "0").why_absent(1), ContainsSubstring("DEVPLACE_SIMULATED_DEVICES to 2"));
}
