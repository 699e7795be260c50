// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An invalid setting is an error, not a machine without devices.

#include <cstdio>
#include <cstdlib>

#include <devplace/place/first_available.hpp>

namespace dp = devplace;

int main() {
  ::setenv("DEVPLACE_SIMULATED_DEVICES", "two", 1);
  try {
    static_cast<void>(dp::available<dp::on<dp::cuda<0>>>());
    return 1;
  } catch (const dp::argument_error&) {
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      dp::first_available<dp::on<dp::cuda<0>>, dp::on<dp::cpu>>([](auto) {});
      return 1;
    } catch (const dp::argument_error& mistake) {
      std::puts(mistake.what());
    }
  }
  return 0;
}
