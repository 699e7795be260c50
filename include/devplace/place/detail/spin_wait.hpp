// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <thread>

namespace devplace::detail {

/// Tells the core that this is a waiting loop: saves power and leaves the pipeline to a sibling hardware thread.
inline void processor_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  asm volatile("pause");
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits for another thread in growing politeness: pauses for some microseconds, then gives the core away at every
/// step, because the thread waited for may need this very core: the scheduler does put two spinning threads on one core
/// while a neighbour's process has the other, and then every microsecond spun is lost twice.
class spin_wait {
 public:
  /// `crowded`: more threads than processors are known to wait for each other, so pauses would only delay them.
  explicit spin_wait(bool crowded) noexcept : steps_(crowded ? pauses : 0) {}

  void step() noexcept {
    if (steps_ < pauses) {
      processor_pause();
    } else {
      std::this_thread::yield();
    }
    if (steps_ < pauses + yields) ++steps_;
  }

  /// True after some tens of microseconds without success: time to sleep, for those who may.
  bool exhausted() const noexcept { return steps_ == pauses + yields; }

 private:
  static constexpr int pauses = 150;
  static constexpr int yields = 100;

  int steps_;
};

}  // namespace devplace::detail
