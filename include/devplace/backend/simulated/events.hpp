// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/memory/event.hpp>

namespace devplace {

namespace detail {

/// The state of an event: the number of times it was recorded, and how many of these records the device has reached.
/// Reference-counted: owned by the handle and by every pending call.
class simulated_event {
 public:
  void record(simulated_device& device) {
    hold();
    simulated_device* const at = &device;
    device.submit<true>([this, at, number = ++recorded_] {
      happen(number, at->failure());
      release();
    });
  }

  /// A failed device waits, too, because memory that it then frees may still be in use by others.
  void follow(simulated_device& device) {
    hold();
    simulated_device* const at = &device;
    device.submit<true>([this, at, number = recorded_.load()] {
      if (const device_failure failed = wait_for(number)) at->fail_with(failed);
      release();
    });
  }

  device_failure wait() { return wait_for(recorded_.load()); }

  bool ready() const {
    const std::lock_guard lock(mutex_);
    return happened_ >= recorded_.load();
  }

  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  void hold() { references_.fetch_add(1, std::memory_order_relaxed); }

  void happen(std::uint64_t number, const device_failure& failure) {
    const std::lock_guard lock(mutex_);
    happened_ = number;
    if (failure) {
      if (!failure_) first_failed_ = number;
      last_failed_ = number;
      failure_ = failure;
    }
    changed_.notify_all();
  }

  device_failure wait_for(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return happened_ >= number; });
    if (first_failed_ <= number && number <= last_failed_) return failure_;
    return {};
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::uint64_t> recorded_{0};
  std::uint64_t happened_ = 0;
  // Records from `first_failed_` to `last_failed_`, the range in which the device had a failure, count as failed, with
  // the latest failure. Record 0 is none.
  std::uint64_t first_failed_ = 1;
  std::uint64_t last_failed_ = 0;
  device_failure failure_;
  std::atomic<int> references_{1};
};

}  // namespace detail

/// Events between simulated devices: their threads wait for each other, and failures propagate.
template <>
struct implementation<backend::cuda, op::events> {
  static detail::event_handle create(int ordinal) {
    static_cast<void>(detail::simulated_devices::at(ordinal));
    return {new detail::simulated_event, {ordinal, &release}};
  }
  static void record(int ordinal, void* state) { of(state).record(detail::simulated_devices::at(ordinal)); }
  static void follow(int ordinal, void* state) { of(state).follow(detail::simulated_devices::at(ordinal)); }
  static void wait(void* state, int ordinal) {
    static_cast<void>(ordinal);
    if (const detail::device_failure failed = of(state).wait()) std::rethrow_exception(failed.what);
  }
  static bool ready(void* state, int) { return of(state).ready(); }
  static detail::device_failure drain(int ordinal) { return detail::simulated_devices::at(ordinal).drain(); }
  static std::uint64_t failures(int ordinal) { return detail::simulated_devices::at(ordinal).failures(); }

 private:
  static detail::simulated_event& of(void* state) { return *static_cast<detail::simulated_event*>(state); }
  static void release(void* state, int) noexcept { of(state).release(); }
};

}  // namespace devplace
