// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Logical, visible and physical devices of a process: three places on two of four simulated devices.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <devplace/core.hpp>

namespace dp = devplace;

namespace {

int failures = 0;

void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

}  // namespace

int main() {
  ::setenv("DEVPLACE_SIMULATED_DEVICES", "4", 1);
  ::setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
  dp::set_device_map({{0, 1}, {1, 1}, {2, 0}});
  const auto devices = dp::list_devices();
  check(devices.size() == 4, "the number of places");
  check(devices[1].device == "visible device 1, physical device 1", "the device of cuda:0");
  check(devices[2].device == "visible device 1, physical device 1", "the device of cuda:1");
  check(devices[3].device == "visible device 0, physical device 3", "the device of cuda:2");
  check(dp::available<dp::replicated<0, 1, 2>>(), "three places");
  check(!dp::available<dp::on<dp::cuda<3>>>(), "no fourth place");

  // Two places on one device have separate memory, statistics and worker threads; copies between them are real copies.
  const dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<0>>> a{1, 2, 3};
  auto b = dp::to<dp::on<dp::cuda<1>>>(a);
  check(a.data() != b.data(), "a copy between places that share a device");
  b = 2.0f * b;
  check(dp::to<dp::on<dp::cpu>>(a)(2) == 3 && dp::to<dp::on<dp::cpu>>(b)(2) == 6, "the values");
  check(dp::memory_statistics<dp::cuda<0>>().allocated == 12 && dp::memory_statistics<dp::cuda<1>>().allocated == 12,
        "statistics for each place");
  check(&dp::detail::simulated_devices::at(0) != &dp::detail::simulated_devices::at(1), "a worker for each place");

  try {
    dp::set_device_map({{0, 0}});
    check(false, "a map that changes after its use");
  } catch (const dp::error& late) {
    std::puts(late.what());
  }
  try {
    dp::require_available<dp::on<dp::cuda<3>>>();
    check(false, "a place outside the map");
  } catch (const dp::placement_unavailable& missing) {
    std::puts(missing.what());
  }
  return failures == 0 ? 0 : 1;
}
