// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace devplace::detail {

/// Detects that a device's work may never end, for example a collective that another process does not join. Polled
/// while the host waits for the device.
class device_watch {
 public:
  virtual ~device_watch() = default;
  /// Polled by a thread that has waited `waited` seconds for device `ordinal`. Throws if the device's work cannot end.
  virtual void check(int ordinal, double waited) = 0;
  /// Called when the thread stops waiting.
  virtual void end_wait() noexcept = 0;
};

/// The watches of the process's devices. Thread-safe; a watch is not removed while it is polled.
class device_watches {
 public:
  static device_watches& of_process() {
    static auto& one = *new device_watches;  // never destroyed: a program may wait for devices until it exits
    return one;
  }

  bool any() const noexcept { return count_.load(std::memory_order_acquire) != 0; }
  void add(device_watch& watch) {
    const std::lock_guard lock(mutex_);
    watches_.push_back(&watch);
    count_.store(watches_.size(), std::memory_order_release);
  }
  void remove(device_watch& watch) noexcept {
    const std::lock_guard lock(mutex_);
    watches_.erase(std::remove(watches_.begin(), watches_.end(), &watch), watches_.end());
    count_.store(watches_.size(), std::memory_order_release);
  }

  void check(int ordinal, double waited) {
    const std::lock_guard lock(mutex_);
    for (device_watch* const watch : watches_) watch->check(ordinal, waited);
  }
  void end_wait() noexcept {
    const std::lock_guard lock(mutex_);
    for (device_watch* const watch : watches_) watch->end_wait();
  }

 private:
  std::mutex mutex_;
  std::vector<device_watch*> watches_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace devplace::detail
