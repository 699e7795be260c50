// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <devplace/backend/simulated/pool.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::detail::memory_counters;
using dp::detail::parse_simulated_memory;
using dp::detail::simulated_pool;

namespace {

constexpr bool guarded = dp::detail::configuration::checked;

/// A separate pool. Logical devices 0 and 1 are on physical device 0, logical device 2 is on physical device 1.
struct shared_device {
  explicit shared_device(std::size_t limit) : pool(limit) {}
  ~shared_device() {
    for (int i = 0; i < 3; ++i) {
      pool.trim(i, counters(i));
      dp::detail::synchronize<dp::backend::cuda>(i);
    }
  }
  void* take(int ordinal, std::size_t bytes) {
    void* data = pool.take(ordinal, ordinal / 2, bytes, guarded, counters(ordinal));
    if (data != nullptr) dp::detail::count_allocation(counters(ordinal), bytes);
    return data;
  }
  void give(int ordinal, void* data, std::size_t bytes) {
    dp::detail::count_release(counters(ordinal), bytes);
    pool.give(ordinal, data, bytes, guarded, counters(ordinal));
  }
  static memory_counters& counters(int ordinal) { return dp::detail::counters(dp::backend::cuda{}, ordinal); }
  static std::size_t reserved(int ordinal) { return dp::detail::usage_of(counters(ordinal)).reserved; }
  static std::size_t allocated(int ordinal) { return dp::detail::usage_of(counters(ordinal)).allocated; }

  simulated_pool pool;
};

}  // namespace

TEST_CASE("DEVPLACE_SIMULATED_MEMORY is read strictly", "[backend]") {
  CHECK(parse_simulated_memory(nullptr) == dp::detail::unlimited_memory);
  CHECK(parse_simulated_memory("1B") == 1);
  CHECK(parse_simulated_memory("3KiB") == 3072);
  CHECK(parse_simulated_memory("256MiB") == 268435456);
  CHECK(parse_simulated_memory("80GiB") == std::size_t{80} << 30);
  CHECK(parse_simulated_memory("2KB") == 2000);
  CHECK(parse_simulated_memory("2MB") == 2000000);
  CHECK(parse_simulated_memory("2GB") == 2000000000);
  for (const char* wrong : {"", "256", "MiB", "0MiB", "-1MiB", "+1MiB", "1.5GiB", "256 MiB", " 1MiB", "1MiB ", "1mib",
                            "1M", "1TiB", "0x10B", "99999999999999999999B", "99999999999999GiB"}) {
    INFO(wrong);
    CHECK_THROWS_AS(parse_simulated_memory(wrong), dp::argument_error);
    CHECK_THROWS_WITH(parse_simulated_memory(wrong),
                      ContainsSubstring("DEVPLACE_SIMULATED_MEMORY is \"" + std::string(wrong) + "\"") &&
                          ContainsSubstring("Write it as 256MiB"));
  }
}

TEST_CASE("a freed block is kept and used for the next request of the same rounded size", "[backend]") {
  shared_device d(dp::detail::unlimited_memory);
  CHECK_FALSE(d.pool.limited());
  void* a = d.take(0, 100);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % 64 == 0);
  CHECK(d.allocated(0) == 100);
  CHECK(d.reserved(0) == 128);
  d.give(0, a, 100);
  CHECK(d.allocated(0) == 0);
  CHECK(d.reserved(0) == 128);
  void* other_size = d.take(0, 129);
  CHECK(other_size != a);
  void* other_device = d.take(1, 100);
  CHECK(other_device != a);
  void* again = d.take(0, 65);
  CHECK(again == a);
  CHECK(d.allocated(0) == 129 + 65);
  CHECK(d.reserved(0) == 192 + 128);
  d.give(0, again, 65);
  d.give(0, other_size, 129);
  d.give(1, other_device, 100);
  CHECK(d.pool.trim(0, d.counters(0)) == 320);
  CHECK(d.pool.trim(0, d.counters(0)) == 0);
  CHECK(d.reserved(0) == 0);
  CHECK(d.reserved(1) == 128);
}

TEST_CASE("without a limit the cache hardly exceeds the peak of memory in use", "[backend]") {
  shared_device d(dp::detail::unlimited_memory);
  constexpr std::size_t largest = 2 * simulated_pool::kept_bytes;
  for (std::size_t bytes = 64; bytes <= largest; bytes += 64000) {
    d.give(0, d.take(0, bytes), bytes);
    CHECK(d.reserved(0) <= simulated_pool::kept_bytes + 2 * bytes);
  }
  // The cache may grow with the memory in use.
  d.pool.trim(0, d.counters(0));
  void* a = d.take(0, 4 * largest);
  void* b = d.take(0, 4 * largest + 64);
  d.give(0, a, 4 * largest);
  d.give(0, b, 4 * largest + 64);
  d.give(0, d.take(0, 64), 64);
  CHECK(d.reserved(0) == 8 * largest + 128);
}

TEST_CASE("all logical devices on a physical device share its limit, and caches do not count", "[backend]") {
  shared_device d(1024);
  void* a = d.take(0, 512);
  void* b = d.take(1, 448);
  REQUIRE(a != nullptr);
  REQUIRE(b != nullptr);
  CHECK(d.pool.obtainable(0) == 64);
  CHECK(d.take(0, 65) == nullptr);
  CHECK(d.take(1, 2000) == nullptr);
  CHECK(d.allocated(0) == 512);
  CHECK(d.reserved(0) == 512);
  void* elsewhere = d.take(2, 1024);  // another physical device
  CHECK(elsewhere != nullptr);
  d.give(1, b, 448);
  CHECK(d.pool.obtainable(0) == 512);
  void* c = d.take(0, 500);  // takes memory from the other place's cache
  CHECK(c != nullptr);
  CHECK(d.reserved(1) == 0);
  CHECK(d.take(1, 1) == nullptr);
  CHECK_THAT(d.pool.limit_text(0), ContainsSubstring("physical device 0 has 1024 bytes") &&
                                       ContainsSubstring("DEVPLACE_SIMULATED_MEMORY") &&
                                       ContainsSubstring("0 B of which are not in use"));
  d.give(0, c, 500);
  d.give(0, a, 512);
  d.give(2, elsewhere, 1024);
  CHECK(d.pool.obtainable(0) == 1024);
  CHECK(d.take(0, ~std::size_t{0}) == nullptr);
}

TEST_CASE("work of a block's previous owner is done before the next owner's", "[backend]") {
  constexpr std::size_t bytes = 4096;
  std::vector<std::uint8_t> source(bytes), result(bytes);
  for (int round = 0; round < 100; ++round) {
    {
      const auto first = dp::detail::allocate<dp::backend::cuda>(0, bytes);
      dp::detail::simulated_devices::at(0).submit([data = first.data()] {
        std::this_thread::yield();
        std::memset(data, 255, bytes);
      });
    }
    const auto second = dp::detail::allocate<dp::backend::cuda>(0, bytes);
    std::memset(source.data(), round, bytes);
    if (round % 2 == 0) {
      dp::detail::copy_in<dp::backend::cuda>(0, second.data(), source.data(), bytes);
    } else {
      const auto away = dp::detail::allocate<dp::backend::cuda>(1, bytes);
      dp::detail::copy_in<dp::backend::cuda>(1, away.data(), source.data(), bytes);
      dp::detail::copy_bytes<dp::backend::cuda, dp::backend::cuda>(0, second.data(), 1, away.data(), bytes);
    }
    dp::detail::copy_out<dp::backend::cuda>(0, result.data(), second.data(), bytes);
    REQUIRE(result == source);
  }
}

TEST_CASE("threads may allocate and free on one device at the same time", "[backend]") {
  const auto before = dp::memory_statistics<dp::cuda<3>>();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (std::size_t i = 1; i <= 100; ++i) {
        const auto block = dp::detail::allocate<dp::backend::cuda>(3, i * 16);
        std::uint8_t value = static_cast<std::uint8_t>(t), seen = 0;
        dp::detail::copy_in<dp::backend::cuda>(3, block.data(), &value, 1);
        dp::detail::copy_out<dp::backend::cuda>(3, &seen, block.data(), 1);
        if (seen != value) throw dp::error("two threads were given one block.");
        if (i % 25 == 0) dp::trim_memory<dp::cuda<3>>();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(dp::memory_statistics<dp::cuda<3>>().allocated == before.allocated);
  dp::trim_memory<dp::cuda<3>>();
  CHECK(dp::memory_statistics<dp::cuda<3>>().reserved == before.allocated);
}

TEST_CASE("trim_memory of a missing device is an error", "[backend]") {
  CHECK_THROWS_AS(dp::trim_memory<dp::cuda<63>>(), dp::placement_unavailable);
  CHECK_THROWS_AS(dp::trim_memory<dp::cuda<64>>(), dp::placement_unavailable);
}
