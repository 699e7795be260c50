// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/parse_number.hpp>

namespace devplace::detail {

/// Parses a value of DEVPLACE_DEVICE_TIMEOUT, a whole number of seconds. If `text` is null, returns 0: no limit.
inline int parse_device_timeout(const char* text) {
  if (text == nullptr) return 0;
  const int seconds = whole_number(text);
  if (seconds < 0)
    throw argument_error({"the environment variable DEVPLACE_DEVICE_TIMEOUT is \"", text,
                          "\", which is not a whole number of seconds. Set it to the longest time that one "
                          "piece of work may take on a device, for example 60, or unset it to wait for ever."});
  return seconds;
}

/// The longest time in seconds that a call waits for one piece of a device's work, before it treats the device as lost;
/// 0: no limit.
inline int device_timeout() {
  static const int seconds = parse_device_timeout(std::getenv("DEVPLACE_DEVICE_TIMEOUT"));
  return seconds;
}

/// The error for a device that exceeded the timeout, with the first 300 characters of the work's name.
inline std::string timeout_text(const std::string& device, std::string_view work) {
  constexpr std::size_t limit = 300;
  const int seconds = device_timeout();
  return joined({device, " has not finished ", work.substr(0, limit), work.size() > limit ? "..." : "", " within the ",
                 seconds, seconds == 1 ? " second" : " seconds",
                 " of DEVPLACE_DEVICE_TIMEOUT and is lost to this process; its memory is not used again. Correct that "
                 "work, or allow more time; to use the device again, restart the process."});
}

/// Prints why a device failed, at the program's exit, when exceptions are no longer caught.
inline void write_failure_at_exit(const std::string& place, std::string_view why) {
  constexpr std::string_view prefix = "devplace: ";
  if (why.starts_with(prefix)) why.remove_prefix(prefix.size());
  std::fprintf(stderr, "devplace: %s failed, and the program ended without reading a loss or waiting: %.*s\n",
               place.c_str(), static_cast<int>(why.size()), why.data());
}

/// Detects, polled while the host waits, that work may never end, as a collective that another process does not join.
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
    std::erase(watches_, &watch);
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
