// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <functional>
#include <thread>
#include <vector>

#include <devplace/memory/statistics.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("allocations and releases of a place are counted, with the peak since the last reset", "[memory]") {
  auto& counters = dp::detail::counters(dp::backend::cpu{}, 0);
  const auto before = dp::memory_statistics<dp::cpu>();
  dp::detail::count_allocation(counters, 100);
  dp::detail::count_allocation(counters, 50);
  dp::detail::count_release(counters, 100);
  auto now = dp::memory_statistics<dp::cpu>();
  CHECK(now.allocated == before.allocated + 50);
  CHECK(now.allocations == before.allocations + 2);
  CHECK(now.peak >= before.allocated + 150);
  dp::reset_peak_memory<dp::cpu>();
  CHECK(dp::memory_statistics<dp::cpu>().peak == before.allocated + 50);
  dp::detail::count_release(counters, 50);
  CHECK(dp::memory_statistics<dp::cpu>().allocated == before.allocated);
}

TEST_CASE("places are counted separately", "[memory]") {
  auto& third = dp::detail::counters(dp::backend::cuda{}, 3);
  const auto before = dp::memory_statistics<dp::cuda<2>>();
  dp::detail::count_allocation(third, 10);
  CHECK(dp::memory_statistics<dp::cuda<3>>().allocated == 10);
  CHECK(dp::memory_statistics<dp::cuda<2>>().allocated == before.allocated);
  dp::detail::count_release(third, 10);
  CHECK(&dp::detail::counters(dp::backend::cuda{}, 63) == &dp::detail::counters(dp::backend::cuda{}, 1000));
}

TEST_CASE("concurrent counting loses nothing", "[memory]") {
  auto& counters = dp::detail::counters(dp::backend::cuda{}, 5);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&counters] {
      for (int i = 0; i < 1000; ++i) {
        dp::detail::count_allocation(counters, 8);
        dp::detail::count_release(counters, 8);
      }
    });
  for (std::thread& thread : threads) thread.join();
  const auto usage = dp::memory_statistics<dp::cuda<5>>();
  CHECK(usage.allocated == 0);
  CHECK(usage.allocations == 4000);
  CHECK(usage.peak >= 8);
  CHECK(usage.peak <= 32);
}

TEST_CASE("memory_statistics gives the statistics of a place", "[memory]") {
  const std::function<dp::memory_usage()> of_cpu = dp::memory_statistics<dp::cpu>;
  CHECK(of_cpu().allocated == dp::memory_statistics<dp::cpu>().allocated);
}
