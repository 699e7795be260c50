// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <ctime>
#include <thread>

namespace devplace::detail {

/// Tells the core that this is a spin loop: saves power and leaves the pipeline to the sibling hardware thread.
inline void processor_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  asm volatile("pause");
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Yields once and returns whether the processor had nothing else to do: with other threads there, yielding lasts as
/// long as they are allowed to run, milliseconds.
inline bool yields_at_once() noexcept {
  const auto nanoseconds = [] {
    std::timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<long long>(now.tv_sec) * 1000000000 + now.tv_nsec;
  };
  const long long begin = nanoseconds();
  std::this_thread::yield();
  return nanoseconds() - begin < 100000;
}

/// Waits for another thread with backoff: pauses for a few microseconds, then yields at every step, because the other
/// thread may need this core: schedulers do put two spinning threads on one core while another process uses the second
/// one, and then every microsecond of spinning delays both.
class spin_wait {
 public:
  /// `crowded`: more threads than processors wait for each other, so pauses would only delay them.
  explicit spin_wait(bool crowded) noexcept : steps_(crowded ? pauses : 0) {}

  void step() noexcept {
    if (steps_ < pauses) {
      processor_pause();
    } else {
      std::this_thread::yield();
    }
    if (steps_ < pauses + yields) ++steps_;
  }

  /// True after a few microseconds without success: from now on every step yields.
  bool yielding() const noexcept { return steps_ >= pauses; }

  /// True after some tens of microseconds without success: callers that can sleep should do so.
  bool exhausted() const noexcept { return steps_ == pauses + yields; }

 private:
  static constexpr int pauses = 150;
  static constexpr int yields = 100;

  int steps_;
};

}  // namespace devplace::detail
