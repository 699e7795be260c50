// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Side streams: their work runs concurrently with the device's, after the marks and before work enqueued after join().

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>

#include <devplace/base/error.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/detail/side_streams.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/wait_for_host.hpp"

namespace dp = devplace;
using cuda = dp::backend::cuda;
using side_streams = dp::parallel::detail::side_streams<cuda>;

namespace {

struct set {
  std::atomic<bool>* flag;
  void operator()(std::size_t) const { *flag = true; }
};
struct refuse {
  void operator()(std::size_t) const { throw dp::argument_error("refused."); }
};
/// Appends a digit to the previous steps' number, so that the order determines the result.
struct append {
  int* digits;
  int digit;
  void operator()(std::size_t) const { *digits = 10 * *digits + digit; }
};

template <class Functor> void enqueue(int ordinal, const Functor& f) {
  dp::detail::for_each_index<cuda>(ordinal, 1, 1, f);
}

bool becomes_true(const std::atomic<bool>& flag) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!flag && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return flag;
}

void wait_for(int ordinal) { dp::implementation<cuda, dp::op::memory>::synchronize(ordinal); }

}  // namespace

TEST_CASE("work of side streams runs while the devices do later work", "[parallel]") {
  constexpr std::array<int, 2> ordinals{0, 1};
  side_streams streams(ordinals);
  std::atomic<bool> go{false}, done[2] = {};
  for (std::size_t k = 0; k != 2; ++k) {
    streams.mark(k);
    enqueue(ordinals[k], dp::test::wait_for_host{&go});
  }
  streams.claim();
  streams.run([&] {
    for (std::size_t k = 0; k != 2; ++k) enqueue(ordinals[k], set{&done[k]});
  });
  CHECK(becomes_true(done[0]));  // the devices still wait
  CHECK(becomes_true(done[1]));
  go = true;
  streams.join();
  wait_for(0);
  wait_for(1);
}

TEST_CASE("side streams come after their marks, and later work after them", "[parallel]") {
  constexpr std::array<int, 1> ordinals{3};
  side_streams streams(ordinals);
  std::atomic<bool> go{false};
  for (int round = 0; round != 20; ++round) {
    int digits = 0;
    go = false;
    enqueue(3, dp::test::wait_for_host{&go});
    enqueue(3, append{&digits, 1});
    streams.mark(0);
    streams.claim();
    streams.run([&] { enqueue(3, append{&digits, 2}); });
    streams.enqueue([&] { enqueue(3, append{&digits, 3}); });
    streams.join();
    enqueue(3, append{&digits, 4});
    go = true;
    wait_for(3);
    CHECK(digits == 1234);
  }
}

TEST_CASE("a failure on a side stream fails the device, and the next side streams work", "[parallel]") {
  constexpr std::array<int, 1> ordinals{5};
  for (int round = 0; round != 3; ++round) {
    side_streams streams(ordinals);
    streams.mark(0);
    streams.claim();
    streams.run([&] { enqueue(5, refuse{}); });
    streams.join();
    std::atomic<bool> later{false};
    enqueue(5, set{&later});
    CHECK_THROWS_AS(wait_for(5), dp::argument_error);
    CHECK_FALSE(later);
    CHECK_NOTHROW(wait_for(5));
  }
}

TEST_CASE("side streams may be destroyed before the devices' waiting work is done", "[parallel]") {
  constexpr std::array<int, 2> ordinals{6, 7};
  std::atomic<bool> go{false}, done{false};
  {
    side_streams streams(ordinals);
    enqueue(6, dp::test::wait_for_host{&go});
    streams.mark(0);
    streams.mark(1);
    streams.claim();
    streams.run([&] { enqueue(6, set{&done}); });
    streams.join();
  }
  side_streams others(ordinals);  // distinct from the streams that still wait
  others.mark(0);
  others.mark(1);
  others.claim();
  others.run([] {});
  others.join();
  CHECK_FALSE(done);
  go = true;
  wait_for(6);
  wait_for(7);
  CHECK(done);
}
