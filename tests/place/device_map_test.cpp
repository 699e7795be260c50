// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <string>
#include <thread>
#include <vector>

#include <devplace/place/device_map.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::detail::device_map;

TEST_CASE("by default each ordinal maps to the visible device with the same number", "[place]") {
  device_map map(nullptr);
  CHECK(map.description() == "cuda:I is visible device I");
  CHECK(map.use(3, "a test") == 3);
  CHECK_FALSE(map.given());
  CHECK(map.visible(2) == 2);
}

TEST_CASE("a map binds several logical ordinals to one visible device, in any order", "[place]") {
  device_map map("1:0,0:2,2:0");
  CHECK(map.use(3, "a test") == 3);
  CHECK(map.visible(0) == 2);
  CHECK(map.visible(1) == 0);
  CHECK(map.visible(2) == 0);
  CHECK(map.description() ==
        "cuda:0 is visible device 2, cuda:1 is visible device 0, cuda:2 is visible device 0 (from "
        "DEVPLACE_DEVICE_MAP)");
  CHECK(map.why_absent(3) ==
        "cuda:3 does not exist: the environment variable DEVPLACE_DEVICE_MAP is \"1:0,0:2,2:0\", which binds cuda:0 to "
        "cuda:2; bind 3 too, as in 3:0, or use a lower ordinal");
}

TEST_CASE("a map with one entry limits a program to one device", "[place]") {
  device_map map("0:5");
  CHECK(map.use(8, "a test") == 1);
  CHECK(map.visible(0) == 5);
  CHECK_THAT(map.why_absent(1), ContainsSubstring("binds cuda:0 alone"));
}

TEST_CASE("DEVPLACE_DEVICE_MAP is parsed strictly", "[place]") {
  for (const char* wrong : {"",     " ",   "0",   "0:",    ":0",   "0:0,", ",0:0", "0:0;1:0", "0:0 ,1:0",      " 0:0",
                            "0: 0", "a:0", "0:a", "0:0:0", "0:-1", "-1:0", "+0:0", "0:1.5",   "0:99999999999", "0=0"}) {
    INFO(wrong);
    CHECK_THROWS_AS(device_map(wrong), dp::argument_error);
    CHECK_THROWS_WITH(
        device_map(wrong),
        ContainsSubstring("devplace: the environment variable DEVPLACE_DEVICE_MAP is \"" + std::string(wrong) + "\"") &&
            ContainsSubstring("Write the map as 0:0,1:0"));
  }
  CHECK_THROWS_WITH(device_map("0:0,1:1,0:1"), ContainsSubstring("gives the logical ordinal 0 twice"));
  CHECK_THROWS_WITH(device_map("0:0,2:1"), ContainsSubstring("leaves out the logical ordinal 1 of 2"));
  CHECK_THROWS_WITH(device_map("1:0"), ContainsSubstring("leaves out the logical ordinal 0 of 1"));
  CHECK_THROWS_WITH(device_map("64:0"), ContainsSubstring("beyond the last logical ordinal, 63"));
}

TEST_CASE("a missing visible device is an error at first use, each time", "[place]") {
  device_map map("0:0,1:4");
  for (int attempt = 0; attempt < 2; ++attempt) {
    CHECK_THROWS_AS(map.use(2, "a test"), dp::argument_error);
    CHECK_THROWS_WITH(map.use(2, "a test"), ContainsSubstring("binds cuda:1 to visible device 4") &&
                                                ContainsSubstring("sees 2 device(s)") &&
                                                ContainsSubstring("one of 0 to 1"));
  }
  device_map without_devices("0:0,1:4");
  CHECK(without_devices.use(0, "a test") == 0);
}

TEST_CASE("a call sets the map until the first use", "[place]") {
  device_map map(nullptr);
  map.set({{0, 1}});
  map.set({{1, 1}, {0, 0}, {2, 1}});
  CHECK(map.use(2, "the first tensor") == 3);
  CHECK(map.visible(2) == 1);
  CHECK_THROWS_AS(map.set({{0, 0}}), dp::error);
  CHECK_THROWS_WITH(map.set({{0, 0}}), ContainsSubstring("first by the first tensor") &&
                                           ContainsSubstring("cuda:2 is visible device 1 (from set_device_map)") &&
                                           ContainsSubstring("beginning of main"));
  CHECK(map.visible(2) == 1);
}

TEST_CASE("an invalid call is an error that shows its arguments and changes nothing", "[place]") {
  device_map map(nullptr);
  map.set({{0, 0}, {1, 0}});
  CHECK_THROWS_WITH(map.set({}), ContainsSubstring("binds nothing"));
  CHECK_THROWS_WITH(map.set({{0, -1}}),
                    ContainsSubstring("set_device_map was called with \"0:-1\"") && ContainsSubstring("count from 0"));
  CHECK_THROWS_WITH(map.set({{-3, 0}}), ContainsSubstring("-3:0 in it has a negative number"));
  CHECK_THROWS_AS(map.set({{0, 0}, {0, 0}}), dp::argument_error);
  CHECK_THROWS_AS(map.set({{0, 0}, {5, 0}}), dp::argument_error);
  CHECK(map.use(1, "a test") == 2);
}

TEST_CASE("a call may repeat but not contradict the environment's map", "[place]") {
  device_map map("0:1,1:0");
  CHECK_NOTHROW(map.set({{1, 0}, {0, 1}}));
  CHECK_THROWS_AS(map.set({{0, 0}}), dp::argument_error);
  CHECK_THROWS_WITH(map.set({{0, 0}}), ContainsSubstring("set_device_map was called with \"0:0\", but the environment "
                                                         "variable DEVPLACE_DEVICE_MAP is \"0:1,1:0\"") &&
                                           ContainsSubstring("Unset the variable"));
  CHECK(map.use(2, "a test") == 2);
}

TEST_CASE("concurrent first uses of a map agree", "[place]") {
  device_map map("0:1,1:0,2:1");
  std::vector<std::thread> threads;
  std::vector<int> counts(4);
  for (int& count : counts) threads.emplace_back([&] { count = map.use(2, "a thread") + map.visible(0); });
  for (std::thread& thread : threads) thread.join();
  CHECK(counts == std::vector<int>{4, 4, 4, 4});
}

namespace {

/// Lists the visible devices of process `rank` of `size` on a host with `visible` devices.
std::string share(int rank, int size, int visible) {
  device_map map(nullptr);
  map.share(rank, size);
  std::string text;
  for (int logical = 0, count = map.use(visible, "a test"); logical < count; ++logical)
    text += std::to_string(map.visible(logical)) + " ";
  return text;
}

}  // namespace

TEST_CASE("the processes of a host share the visible devices", "[place]") {
  CHECK(share(0, 4, 4) + share(1, 4, 4) + share(2, 4, 4) + share(3, 4, 4) == "0 1 2 3 ");
  CHECK(share(0, 2, 5) == "0 1 ");
  CHECK(share(1, 2, 5) == "2 3 ");
  CHECK(share(0, 3, 4) + share(1, 3, 4) + share(2, 3, 4) == "0 1 2 ");
  CHECK(share(0, 3, 1) + share(1, 3, 1) + share(2, 3, 1) == "0 0 0 ");  // a launcher showed each process its own device
  CHECK(share(0, 5, 2) + share(1, 5, 2) + share(2, 5, 2) + share(3, 5, 2) + share(4, 5, 2) == "0 1 0 1 0 ");
  CHECK(share(0, 1, 3) == "0 1 2 ");
  CHECK(share(1, 2, 0).empty());
}

TEST_CASE("a process's share is fixed at first use, and described", "[place]") {
  device_map map(nullptr);
  map.share(1, 2);
  CHECK(map.description() == "from the first use of a cuda place on, the share of process 1 of 2 on its host");
  CHECK(map.use(3, "a test") == 1);
  CHECK(map.given());
  CHECK(map.description() == "cuda:0 is visible device 1 (the share of process 1 of 2 on its host)");
  CHECK(map.why_absent(2) ==
        "cuda:2 does not exist: the processes of a host share its devices, and this is process 1 of 2 on its host with "
        "3 visible device(s), which binds cuda:0 alone; start fewer processes, set DEVPLACE_DEVICE_MAP, or use a lower "
        "ordinal");
  map.share(0, 2);
  CHECK(map.visible(0) == 1);
  CHECK_THROWS_WITH(map.set({{0, 0}}), ContainsSubstring("with the map: cuda:0 is visible device 1 (the share of"));
}

TEST_CASE("given maps, maps in use and process-private devices are not divided among processes", "[place]") {
  device_map given("0:2,1:0");
  given.share(1, 2);
  CHECK(given.use(4, "a test") == 2);
  CHECK(given.visible(0) == 2);
  for (const bool before : {false, true}) {
    device_map set(nullptr);
    if (before) set.share(1, 2);
    set.set({{0, 3}});
    if (!before) set.share(1, 2);
    CHECK(set.use(4, "a test") == 1);
    CHECK(set.visible(0) == 3);
    CHECK_THAT(set.description(), ContainsSubstring("(from set_device_map)"));
  }
  device_map used(nullptr);
  CHECK(used.use(4, "a test") == 4);
  used.share(1, 2);
  CHECK(used.visible(0) == 0);
  CHECK(used.description() == "cuda:I is visible device I");
  device_map simulated(nullptr);
  simulated.share(1, 2);
  CHECK(simulated.use(4, "a test", device_map::devices::of_process) == 4);
  CHECK(simulated.description() == "cuda:I is visible device I");
  CHECK_FALSE(simulated.given());
}
