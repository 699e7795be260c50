// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lists the places on this machine that the program can use, and the program's components.

#include <cstdio>
#include <exception>
#include <string>

#include <devplace/core.hpp>

namespace dp = devplace;

double gibibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

int main() try {
  for (const dp::device_information& device : dp::list_devices()) {
    std::printf("%s: %s\n", device.place.c_str(), device.processor.c_str());
    if (!device.device.empty()) std::printf("  %s\n", device.device.c_str());
    std::printf("  %d %s, %.1f GiB of memory, %.1f GiB free\n", device.units, device.unit_name,
                gibibytes(device.memory_total), gibibytes(device.memory_free));
    std::printf("  %s\n", device.support.c_str());
    if (!device.uuid.empty()) std::printf("  %s, L2 cache %.1f MiB\n", device.uuid.c_str(), mebibytes(device.l2_cache));
    if (!device.peers.empty()) std::printf("  reaches the memory of");
    for (const std::string& peer : device.peers) std::printf(" %s", peer.c_str());
    if (!device.peers.empty()) std::printf("\n");
    for (const dp::device_attribute& attribute : device.attributes)
      std::printf("    %-34s %lld\n", attribute.name, attribute.value);
  }
  std::printf("CPU work: %d thread(s), matrix products by %s\n", dp::thread_count(),
              std::string(dp::matrix_engine().name).c_str());
  std::printf("device map: %s\n", dp::device_map_description().c_str());
  std::printf("cuda places: %s\n", dp::cuda_support_description().c_str());
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 2;
}
