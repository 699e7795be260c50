// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Statistics of device memory, equal on every backend: included by a test with simulated devices and by a test with the
// mock runtime.

#include <cstddef>
#include <optional>

#include <devplace/base/error.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/report.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/place/device_map.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::memory_purpose;
using device_0 = dp::cuda<0>;

namespace {

auto take(int ordinal, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
  return std::optional(dp::detail::allocate<dp::backend::cuda>(ordinal, bytes, purpose));
}

}  // namespace

TEST_CASE("device memory is counted by purpose and with its peak", "[memory][statistics]") {
  CHECK(dp::memory_statistics<device_0>().allocations == 0);
  auto parameters = take(0, 640, memory_purpose::parameters);
  auto gradients = take(0, 320, memory_purpose::gradients);
  auto workspace = take(0, 64, memory_purpose::workspace);
  auto now = dp::memory_statistics<device_0>();
  CHECK(now.allocated == 1024);
  CHECK(now.peak == 1024);
  CHECK(now.reserved == 1024);
  CHECK(now.allocations == 3);
  CHECK(now.of(memory_purpose::parameters) == 640);
  CHECK(now.of(memory_purpose::gradients) == 320);
  CHECK(now.of(memory_purpose::workspace) == 64);
  CHECK(now.of(memory_purpose::tensors) == 0);
  gradients.reset();
  now = dp::memory_statistics<device_0>();
  CHECK(now.allocated == 704);
  CHECK(now.of(memory_purpose::gradients) == 0);
  CHECK(now.peak == 1024);
  CHECK(now.reserved == 1024);  // freed memory is in the cache
  CHECK(now.allocations == 3);
  CHECK(dp::memory_statistics<dp::cuda<1>>().allocations == 0);
}

TEST_CASE("reset_peak_memory sets the peak to the memory in use", "[memory][statistics]") {
  auto kept = take(0, 128);
  {
    const auto more = take(0, 512);
  }
  CHECK(dp::memory_statistics<device_0>().peak == 640);
  dp::reset_peak_memory<device_0>();
  CHECK(dp::memory_statistics<device_0>().peak == 128);
  {
    const auto more = take(0, 64);
  }
  CHECK(dp::memory_statistics<device_0>().peak == 192);
}

TEST_CASE("trim_memory keeps memory in use and returns the number of freed bytes", "[memory][statistics]") {
  auto kept = take(0, 128), gone = take(0, 256), other = take(1, 512);
  gone.reset();
  other.reset();
  CHECK(dp::trim_memory<device_0>() == 256);
  CHECK(dp::memory_statistics<device_0>().reserved == 128);
  CHECK(dp::memory_statistics<device_0>().allocated == 128);
  CHECK(dp::trim_memory<device_0>() == 0);
  CHECK(dp::memory_statistics<dp::cuda<1>>().reserved == 512);
  CHECK(dp::trim_memory<dp::cuda<1>>() == 512);
  kept.reset();
  CHECK(dp::trim_memory<device_0>() == 128);
  CHECK(dp::memory_statistics<device_0>().reserved == 0);
}

TEST_CASE("logical devices on one GPU are counted and trimmed separately", "[memory][statistics]") {
  dp::set_device_map({{0, 0}, {1, 0}});
  auto mine = take(0, 128), other = take(1, 256);
  CHECK(dp::memory_statistics<device_0>().reserved == 128);
  CHECK(dp::memory_statistics<dp::cuda<1>>().reserved == 256);
  other.reset();
  CHECK(dp::trim_memory<device_0>() == 0);
  CHECK(dp::trim_memory<dp::cuda<1>>() == 256);
}

TEST_CASE("the table has a row for each place in use", "[memory][statistics]") {
  const auto a = take(0, 1024, memory_purpose::optimizer_state);
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(dp::memory_table(), ContainsSubstring("place   allocated  reserved     peak  optimizer state\n") &&
                                     ContainsSubstring("cuda:0    1.0 KiB   1.0 KiB  1.0 KiB          1.0 KiB\n") &&
                                     !ContainsSubstring("cuda:1"));
}

TEST_CASE("a failed allocation is not counted", "[memory][statistics]") {
  const auto kept = take(0, 64);
  CHECK_THROWS_AS(take(0, ~std::size_t{0}), dp::out_of_memory);
  const auto now = dp::memory_statistics<device_0>();
  CHECK(now.allocated == 64);
  CHECK(now.peak == 64);
  CHECK(now.allocations == 1);
}
