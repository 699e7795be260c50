// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/place/detail/host_memory.hpp>

namespace devplace {

namespace detail {

/// A point in the work of a device.
class simulated_event {
 public:
  explicit simulated_event(simulated_device& of) : device(of) {}

  simulated_device& device;

  void record() {
    const std::lock_guard lock(mutex_);
    point_ = device.now();
  }
  simulated_device::point point() const {
    const std::lock_guard lock(mutex_);
    return point_;
  }

 private:
  mutable std::mutex mutex_;
  simulated_device::point point_;
};

}  // namespace detail

/// Events between simulated devices: their threads wait for each other, and failures propagate.
template <>
struct implementation<backend::cuda, op::events> {
  static detail::event_handle create(int ordinal) {
    return detail::naming_bad_alloc("an event", [&]() -> detail::event_handle {
      return {new detail::simulated_event(detail::simulated_devices::at(ordinal)), {ordinal, &release}};
    });
  }
  static void record(int, void* state) { of(state).record(); }
  /// A failed device waits, too, because memory that it then frees may still be in use by others.
  static void follow(int ordinal, void* state) {
    detail::simulated_device* const device = &detail::simulated_devices::at(ordinal);
    detail::simulated_device* const before = &of(state).device;
    device->submit<true, op::events>([device, before, point = of(state).point()] {
      if (detail::device_failure failed = before->wait_for(point)) device->fail_with(std::move(failed));
    });
  }
  static void wait(void* state, int) {
    if (const detail::device_failure failed = of(state).device.wait_for(of(state).point(), true))
      std::rethrow_exception(failed.what);
  }
  static bool ready(void* state, int) { return of(state).device.reached(of(state).point()); }
  static detail::device_failure drain(int ordinal) { return detail::simulated_devices::at(ordinal).drain(); }
  static std::uint64_t failures(int ordinal) { return detail::simulated_devices::at(ordinal).failures(); }

 private:
  static detail::simulated_event& of(void* state) { return *static_cast<detail::simulated_event*>(state); }
  static void release(void* state, int) noexcept { delete &of(state); }
};

}  // namespace devplace
