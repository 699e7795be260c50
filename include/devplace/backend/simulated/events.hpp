// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/memory/event.hpp>

namespace devplace {

namespace detail {

/// A point in the work of one of a device's workers.
class simulated_event {
 public:
  struct point {
    simulated_device* worker;
    simulated_device::point at;
  };

  explicit simulated_event(simulated_device& device) : recorded_{&device, {}} {}

  void record(simulated_device& worker) {
    const std::lock_guard lock(mutex_);
    recorded_ = {&worker, worker.now()};
  }
  point recorded() const {
    const std::lock_guard lock(mutex_);
    return recorded_;
  }

 private:
  mutable std::mutex mutex_;
  point recorded_;
};

}  // namespace detail

/// Events between simulated devices: workers wait for each other, and failures propagate.
template <> struct implementation<backend::cuda, op::events> {
  static detail::event_handle create(int ordinal) {
    return detail::naming_bad_alloc("an event", [&]() -> detail::event_handle {
      return {new detail::simulated_event(detail::simulated_devices::at(ordinal)), ordinal, &release};
    });
  }
  static void record(int ordinal, void* state) { event(state).record(detail::simulated_devices::current(ordinal)); }
  /// Makes the device wait for the event. A failed device waits, too, because it still frees memory, which other
  /// devices may be using.
  static void follow(int ordinal, void* state) {
    detail::simulated_device* const worker = &detail::simulated_devices::current(ordinal);
    worker->submit<true, op::events>([worker, before = event(state).recorded()] {
      if (detail::device_failure failed = before.worker->wait_for(before.at)) worker->fail_with(std::move(failed));
    });
  }
  static void wait(void* state, int ordinal) {
    static_cast<void>(detail::simulated_devices::at(ordinal));  // throws in a child of fork(), which has no workers
    const detail::simulated_event::point at = event(state).recorded();
    if (const detail::device_failure failed = at.worker->wait_for(at.at, true)) std::rethrow_exception(failed.what);
  }
  static bool ready(void* state, int ordinal) {
    static_cast<void>(detail::simulated_devices::at(ordinal));  // throws in a child of fork(), which has no workers
    const detail::simulated_event::point at = event(state).recorded();
    return at.worker->reached(at.at);
  }
  static detail::device_failure drain(int ordinal) { return detail::simulated_devices::at(ordinal).drain(); }
  static std::uint64_t failures(int ordinal) { return detail::simulated_devices::at(ordinal).failures(); }

 private:
  static detail::simulated_event& event(void* state) { return *static_cast<detail::simulated_event*>(state); }
  static void release(void* state, int) noexcept { delete &event(state); }
};

}  // namespace devplace
