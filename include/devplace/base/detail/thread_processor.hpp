// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <thread>

#include <devplace/config.hpp>

#if defined(__linux__)
  #include <pthread.h>
  #include <sched.h>
#endif

namespace devplace::detail {

/// Moves `thread`, which waits until the calling thread's processor is free, to any other allowed processor. Programs
/// cannot see which processors are idle. The system may move the thread back.
DEVPLACE_COMPILABLE() void move_from_this_processor([[maybe_unused]] std::thread& thread) noexcept {
#if defined(__linux__)
  const ::pthread_t id = thread.native_handle();
  const int here = ::sched_getcpu();
  cpu_set_t usable, now;
  CPU_ZERO(&usable);
  if (here < 0 || ::pthread_getaffinity_np(id, sizeof usable, &usable) != 0) return;
  cpu_set_t others = usable, all;
  CPU_CLR(static_cast<std::size_t>(here), &others);
  if (CPU_COUNT(&others) == 0 || CPU_EQUAL(&others, &usable)) return;
  if (::pthread_setaffinity_np(id, sizeof others, &others) != 0) return;
  // Restores the affinity. If only the control group limits the thread, the affinity must remain all processors, so
  // that the thread also uses processors that the group gets later.
  std::memset(&all, 0xFF, sizeof all);
  CPU_ZERO(&now);
  if (::pthread_setaffinity_np(id, sizeof all, &all) == 0 && ::pthread_getaffinity_np(id, sizeof now, &now) == 0 &&
      CPU_EQUAL(&now, &usable))
    return;
  ::pthread_setaffinity_np(id, sizeof usable, &usable);
#endif
}
DEVPLACE_COMPILED(void move_from_this_processor(std::thread&) noexcept)

}  // namespace devplace::detail
