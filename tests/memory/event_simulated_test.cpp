// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <atomic>
#include <optional>

#include <devplace/base/error.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/ops/for_each.hpp>

#include "support/catch.hpp"
#include "support/wait_for_host.hpp"

namespace dp = devplace;
using cuda = dp::backend::cuda;

namespace {

struct set_value {
  std::atomic<int>* to;
  int value;
  void operator()(std::size_t) const { to->store(value); }
};

struct copy_value {
  std::atomic<int>* to;
  const std::atomic<int>* from;
  void operator()(std::size_t) const { to->store(from->load()); }
};

struct refuse {
  void operator()(std::size_t) const { throw dp::argument_error("refused."); }
};

template <class F> void ask(int ordinal, const F& f) { dp::detail::for_each_index<cuda>(ordinal, 1, 1, f); }

}  // namespace

TEST_CASE("an event is complete before it is recorded and after its device reaches it", "[memory]") {
  dp::event<dp::cuda<0>> event;
  CHECK(event.ready());
  event.wait();
  std::atomic<bool> go{false};
  ask(0, dp::test::wait_for_host{&go});
  event.record();
  CHECK_FALSE(event.ready());
  go = true;
  event.wait();
  CHECK(event.ready());
}

TEST_CASE("a device waits for another device's event without blocking the host", "[memory]") {
  std::atomic<bool> go{false};
  std::atomic<int> made{0}, seen{-1};
  dp::event<dp::cuda<0>> event;
  ask(0, dp::test::wait_for_host{&go});
  ask(0, set_value{&made, 7});
  event.record();
  event.before<dp::cuda<1>>();
  ask(1, copy_value{&seen, &made});
  CHECK(seen == -1);
  go = true;
  dp::synchronize<dp::cuda<1>>();
  CHECK(seen == 7);
}

TEST_CASE("an event may be destroyed before its devices reach it", "[memory]") {
  std::atomic<bool> go{false};
  std::atomic<int> seen{0};
  std::optional<dp::event<dp::cuda<0>>> event(std::in_place);
  ask(0, dp::test::wait_for_host{&go});
  event->record();
  event->before<dp::cuda<1>>();
  event.reset();
  ask(1, set_value{&seen, 1});
  go = true;
  dp::synchronize<dp::cuda<1>>();
  CHECK(seen == 1);
}

TEST_CASE("a failure propagates with an event to waiting devices, and is cleared once each was waited for",
          "[memory]") {
  std::atomic<int> seen{0};
  dp::event<dp::cuda<2>> event;
  ask(2, refuse{});
  event.record();
  event.before<dp::cuda<1>>();
  ask(1, set_value{&seen, 1});
  const dp::detail::device_failure failure = dp::detail::events_of<cuda>().drain(1);
  REQUIRE(failure);
  CHECK(failure.ordinal == 2);
  CHECK_THROWS_AS(std::rethrow_exception(failure.what), dp::argument_error);
  CHECK(seen == 0);
  CHECK_THROWS_AS(event.wait(), dp::argument_error);
  CHECK_THROWS_AS(dp::synchronize<dp::cuda<2>>(), dp::argument_error);
  event.record();
  event.before<dp::cuda<1>>();
  ask(1, set_value{&seen, 2});
  dp::synchronize<dp::cuda<1>>();
  CHECK(seen == 2);
  CHECK(dp::detail::events_of<cuda>().failures(2) == 1);
  CHECK(dp::detail::events_of<cuda>().failures(1) == 1);
}

TEST_CASE("waiting for an event propagates failures before the event and none after it", "[memory]") {
  dp::event<dp::cuda<0>> event;
  std::atomic<int> seen{0};
  const auto failed = [](int ordinal) { return static_cast<bool>(dp::detail::events_of<cuda>().drain(ordinal)); };
  // Device 1 is delayed: device 0 fails, and records the event again, after the point that device 1 waits for.
  std::atomic<bool> go{false};
  ask(1, dp::test::wait_for_host{&go});
  event.record();
  event.before<dp::cuda<1>>();
  ask(1, set_value{&seen, 1});
  ask(0, refuse{});
  event.record();
  CHECK(failed(0));
  go = true;
  CHECK_FALSE(failed(1));
  CHECK(seen == 1);
  // Device 1 is delayed: device 0 failed, its failure was collected, and it works again.
  go = false;
  ask(1, dp::test::wait_for_host{&go});
  ask(0, refuse{});
  event.record();
  event.before<dp::cuda<1>>();
  ask(1, set_value{&seen, 2});
  CHECK(failed(0));
  event.record();
  ask(0, refuse{});
  event.record();
  CHECK(failed(0));
  go = true;
  CHECK(failed(1));
  CHECK(seen == 1);
}

TEST_CASE("events of the CPU are always complete", "[memory]") {
  dp::event<dp::cpu> event;
  event.record();
  CHECK(event.ready());
  event.wait();
}
