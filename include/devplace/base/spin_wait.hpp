// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <thread>

#include <devplace/base/clock.hpp>

namespace devplace::detail {

/// Hints to the core that this is a spin loop: saves power and leaves the pipeline to the sibling hardware thread.
inline void processor_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  asm volatile("pause");
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Yields once and returns whether the processor was free. On a busy processor a yield lasts as long as the other
/// threads' time slices, milliseconds.
inline bool yields_at_once() noexcept {
  const std::int64_t begin = monotonic_nanoseconds();
  std::this_thread::yield();
  return monotonic_nanoseconds() - begin < 100000;
}

/// Waits for another thread with backoff: pauses for a few microseconds, then yields at every step, because schedulers
/// may put two spinning threads on one core, where spinning delays both.
class spin_wait {
 public:
  /// `oversubscribed` means that there are more threads than processors: yields from the first step, since pauses would
  /// delay the other threads.
  explicit spin_wait(bool oversubscribed) noexcept : steps_(oversubscribed ? pauses : 0) {}

  void step() noexcept {
    if (steps_ < pauses) {
      processor_pause();
    } else {
      std::this_thread::yield();
    }
    if (steps_ < pauses + yields) ++steps_;
  }

  /// True after a few microseconds, when every further step yields.
  bool yielding() const noexcept { return steps_ >= pauses; }

  /// True after some tens of microseconds, when callers should sleep if they can.
  bool exhausted() const noexcept { return steps_ == pauses + yields; }

 private:
  static constexpr int pauses = 150;
  static constexpr int yields = 100;

  int steps_;
};

}  // namespace devplace::detail
