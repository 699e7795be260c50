// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <time.h>
#include <unistd.h>

#include <cmath>
#include <utility>

namespace devplace::parallel::detail {

/// A file descriptor, closed with the object.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    descriptor old(std::exchange(fd_, std::exchange(other.fd_, -1)));
    return *this;
  }
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Seconds of a clock that stands still while the machine is suspended.
inline double monotonic_seconds() noexcept {
  ::timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// For poll(): not earlier than after `seconds`.
inline int poll_milliseconds(double seconds) noexcept {
  if (seconds <= 0) return 0;
  return seconds > 1e6 ? 1000000000 : static_cast<int>(std::ceil(1e3 * seconds));
}

}  // namespace devplace::parallel::detail
