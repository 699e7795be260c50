// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <devplace/backend/simulated/devices.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::detail::simulated_device;
using dp::detail::simulated_devices;

TEST_CASE("work of a simulated device is done in the order of the calls, past the size of its queue", "[backend]") {
  simulated_device device;
  std::vector<int> seen;
  std::vector<int>* order = &seen;
  const int count = 5 * static_cast<int>(simulated_device::pending_limit);
  for (int i = 0; i < count; ++i) device.submit([=] { order->push_back(i); });
  device.wait();
  REQUIRE(seen.size() == static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) REQUIRE(seen[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("submit returns before the work is done, and the work runs on another thread", "[backend]") {
  simulated_device device;
  std::atomic<bool> go{false};
  std::atomic<bool>* signal = &go;
  std::thread::id id;
  std::thread::id* worker = &id;
  device.submit([=] {
    while (!signal->load()) std::this_thread::yield();
    *worker = std::this_thread::get_id();
  });
  go = true;
  device.wait();
  CHECK(id != std::thread::id());
  CHECK(id != std::this_thread::get_id());
}

TEST_CASE("an exception of a device's work is kept for the next wait, and later work is skipped", "[backend]") {
  simulated_device device;
  int done = 0;
  int* counter = &done;
  device.submit([] { throw dp::argument_error("first."); });
  device.submit([] { throw dp::shape_error("second."); });
  device.submit([=] { ++*counter; });            // skipped, because it could use a failed result
  device.submit<true>([=] { *counter += 10; });  // runs in any case, as freeing memory must
  CHECK_THROWS_AS(device.wait(), dp::argument_error);
  CHECK(done == 10);
  CHECK_NOTHROW(device.wait());
  device.submit([=] { ++*counter; });
  CHECK_NOTHROW(device.wait());
  CHECK(done == 11);
  device.submit([] { throw 5; });
  CHECK_THROWS_AS(device.wait(), int);
  device.submit([] { throw dp::error("nobody asks for this one."); });
}

TEST_CASE("an unreported error is discarded with the device", "[backend]") {
  simulated_device device;
  device.submit([] { throw dp::error("unseen."); });
}

TEST_CASE("several threads may use one device", "[backend]") {
  simulated_device device;
  std::uint64_t sum = 0;  // accessed only by the device's thread
  std::uint64_t* total = &sum;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&device, total] {
      for (std::uint64_t i = 1; i <= 1000; ++i) {
        device.submit([=] { *total += i; });
        if (i % 100 == 0) device.wait();
      }
    });
  for (std::thread& thread : threads) thread.join();
  device.wait();
  CHECK(sum == 4 * 500500);
}

TEST_CASE("arguments as large as a CUDA kernel's fit", "[backend]") {
  struct large {
    unsigned char bytes[4000];
  };
  simulated_device device;
  large argument{};
  argument.bytes[3999] = 7;
  int result = 0;
  int* out = &result;
  device.submit([=] { *out = argument.bytes[3999]; });
  argument.bytes[3999] = 8;
  device.wait();
  CHECK(result == 7);
}

TEST_CASE("CPU code on a simulated device uses a team of one thread", "[backend]") {
  simulated_device device;
  int threads = 0;
  int* out = &threads;
  device.submit([=] { *out = dp::thread_count(); });
  device.wait();
  CHECK(threads == 1);
}

TEST_CASE("a stopped device does its work on the caller's thread, after earlier submitted work", "[backend]") {
  simulated_device device;
  std::vector<int> seen;
  std::vector<int>* order = &seen;
  device.submit([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    order->push_back(1);
  });
  device.stop();
  device.stop();
  device.submit([=] { order->push_back(2); });
  CHECK(seen == std::vector<int>{1, 2});
  device.submit([] { throw dp::error("late."); });
  simulated_device* const itself = &device;
  device.submit<true>([=] { order->push_back(itself->failures() == 1 ? 3 : 4); });
  CHECK(seen == std::vector<int>{1, 2, 3});
  CHECK_THROWS_AS(device.wait(), dp::error);
}

TEST_CASE("an ordinal outside the simulated devices is an error that names the variable", "[backend]") {
  const int count = dp::detail::simulated_device_count();
  CHECK_THROWS_AS(simulated_devices::at(count), dp::placement_unavailable);
  CHECK_THROWS_AS(simulated_devices::at(-1), dp::placement_unavailable);
  CHECK_THROWS_AS(simulated_devices::at(100000), dp::placement_unavailable);
  CHECK_THROWS_WITH(simulated_devices::at(70),
                    Catch::Matchers::ContainsSubstring("cuda:70 does not exist") &&
                        Catch::Matchers::ContainsSubstring("DEVPLACE_SIMULATED_DEVICES to 71"));
  CHECK(&simulated_devices::at(0) == &simulated_devices::at(0));
  CHECK(&simulated_devices::at(0) != &simulated_devices::at(1));
}

TEST_CASE("DEVPLACE_DEVICE_TIMEOUT is read strictly", "[backend]") {
  CHECK(dp::detail::parse_device_timeout(nullptr) == 0);
  CHECK(dp::detail::parse_device_timeout("0") == 0);
  CHECK(dp::detail::parse_device_timeout("60") == 60);
  for (const char* wrong : {"", " ", "-1", "60 ", "60s", "1.5", "never", "99999999999"}) {
    INFO(wrong);
    CHECK_THROWS_WITH(dp::detail::parse_device_timeout(wrong),
                      Catch::Matchers::ContainsSubstring("DEVPLACE_DEVICE_TIMEOUT is \"" + std::string(wrong) + "\"") &&
                          Catch::Matchers::ContainsSubstring("whole number of seconds"));
  }
}
