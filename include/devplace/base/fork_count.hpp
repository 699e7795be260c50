// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include <pthread.h>

namespace devplace::detail {

/// Number of calls of fork() that led to this process, counted from the first call of fork_count(); starts at 1. An
/// owner of threads remembers the number: if it differs later, the threads stayed in the parent process. Not inlined:
/// each of the many callers would get the code that initialises the static variables.
[[gnu::noinline]] inline unsigned fork_count() noexcept {
  static std::atomic<unsigned> count{1};
  static const int registered = pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return count.load(std::memory_order_relaxed);
}

/// In a child of fork(), replaces handles of the parent's threads by empty ones, without their destructors: the threads
/// cannot be joined here, and a destructor would terminate the program.
inline void forget_threads(std::vector<std::thread>& threads) {
  for (std::thread& handle : threads) ::new (&handle) std::thread;
}

}  // namespace devplace::detail
