// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>

#include <pthread.h>

namespace devplace::detail {

/// Number of calls of fork() that led to this process, counted from the first call of this function; starts at 1. What
/// has threads remembers the number: if it differs later, the threads stayed in the parent.
inline unsigned fork_count() noexcept {
  static std::atomic<unsigned> count{1};
  static const int registered = pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return count.load(std::memory_order_relaxed);
}

}  // namespace devplace::detail
