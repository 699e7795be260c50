// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sstream>
#include <string>

#include <devplace/place/device_info.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("without a component the machine has one place, the CPU", "[place]") {
  const auto found = dp::list_devices();
  REQUIRE(found.size() == 1);
  const dp::device_information& cpu = found.front();
  CHECK(cpu.place == "cpu");
  CHECK_FALSE(cpu.processor.empty());
  CHECK(cpu.processor.find('\n') == std::string::npos);
  CHECK(cpu.units >= 1);
  CHECK(std::string(cpu.unit_name) == "cores");
  CHECK(cpu.memory_total > 0);
  CHECK(cpu.memory_free > 0);
  CHECK(cpu.memory_free <= cpu.memory_total);
  CHECK_FALSE(cpu.support.empty());
}

TEST_CASE("the description of cuda support names what to add", "[place]") {
  CHECK_THAT(dp::cuda_support_description(), Catch::Matchers::ContainsSubstring("add devplace::cuda"));
}

TEST_CASE("a missing file or key of /proc gives an empty value", "[place]") {
  CHECK(dp::detail::proc_value("/proc/no/such/file", "model name").empty());
  CHECK(dp::detail::proc_value("/proc/meminfo", "NoSuchKey").empty());
  CHECK_FALSE(dp::detail::proc_value("/proc/meminfo", "MemTotal").empty());
}

TEST_CASE("information about a place is printed in one line", "[place]") {
  dp::device_information device;
  device.place = "cuda:0";
  device.processor = "NVIDIA H200";
  device.units = 132;
  device.unit_name = "SMs";
  device.memory_total = std::size_t{150} << 30;
  device.memory_free = (std::size_t{150} << 30) - (std::size_t{700} << 20);
  std::ostringstream out;
  out << device;
  CHECK(out.str() == "cuda:0: NVIDIA H200, 132 SMs, 150.0 GiB of memory, 149.3 GiB free");
}
