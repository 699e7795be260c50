// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/runtime/kept_workspaces.hpp>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include <devplace/memory/statistics.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using lease = dp::runtime::kept_workspaces::lease<dp::backend::cpu>;

TEST_CASE("a returned workspace is reused unless it is too small", "[runtime]") {
  dp::runtime::kept_workspaces kept;
  lease(kept, 0).at_least(1024);
  const auto allocations = [] { return dp::memory_statistics<dp::cpu>().allocations; };
  const auto before = allocations();
  const void* const first = lease(kept, 0).at_least(1024);
  CHECK(lease(kept, 0).at_least(64) == first);
  CHECK(allocations() == before);
  std::memset(lease(kept, 0).at_least(4096), 1, 4096);
  CHECK(allocations() == before + 1);
}

TEST_CASE("threads that predict concurrently have separate workspaces", "[runtime]") {
  dp::runtime::kept_workspaces kept;
  constexpr int threads = 4;
  std::vector<std::thread> all;
  std::atomic<int> mixed = 0;
  for (int t = 0; t != threads; ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i != 200; ++i) {
        lease held(kept, 0);
        auto* const bytes = static_cast<unsigned char*>(held.at_least(256));
        std::memset(bytes, t, 256);
        std::this_thread::yield();
        for (std::size_t b = 0; b != 256; ++b)
          if (bytes[b] != t) ++mixed;
      }
    });
  for (std::thread& one : all) one.join();
  CHECK(mixed == 0);
}
