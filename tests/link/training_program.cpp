// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One source for simulated and real devices: trains on the CPU, on one device and on two, and compares the losses.
// Without a device the program prints devplace's error and returns 4 (skipped).

#include <cstdio>
#include <exception>

#include "link/training.hpp"

namespace dp = devplace;

int main() try {
  const auto cpu = training::losses<dp::on<dp::cpu>>();
  const auto one = training::losses<dp::on<dp::cuda<0>>>();
  if (!training::agree(cpu, one)) {
    std::puts("one device trains differently from the CPU");
    return 1;
  }
  if (!dp::available<dp::replicated<0, 1>>()) {
    std::puts("there is one device only: two are not compared");
    return 0;
  }
  const auto two = training::losses<dp::replicated<0, 1>>();
  if (!training::agree(cpu, two)) {
    std::puts("two devices train differently from the CPU");
    return 1;
  }
  return 0;
} catch (const dp::placement_unavailable& missing) {
  std::fprintf(stderr, "error: %s\n", missing.what());
  return 4;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "error: %s\n", failure.what());
  return 1;
}
