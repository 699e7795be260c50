// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <thread>

#include <devplace/base/error.hpp>
#include <devplace/base/parse_number.hpp>
#include <devplace/config.hpp>

#if defined(__linux__)
  #include <pthread.h>
  #include <sched.h>
#endif

namespace devplace::detail {

/// Number of processors that this process may use: those in its affinity mask (set by taskset, srun or mpirun) or,
/// without a mask, all processors of the machine. At least 1.
inline int usable_processors() noexcept {
#if defined(__linux__)
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    const int count = CPU_COUNT(&mask);
    if (count > 0) return count;
  }
#endif
  const auto count = static_cast<int>(std::thread::hardware_concurrency());
  return count > 0 ? count : 1;
}

/// The largest accepted thread count; a larger count is probably a mistake (a job id, an address).
inline constexpr int largest_thread_count = 4096;

/// The thread count in `text`, a value of OMP_NUM_THREADS. OpenMP allows a list with one number per nesting level
/// ("4,2"); devplace does not nest and uses the first. Spaces around numbers are allowed, as in OpenMP. Anything else
/// is an error, because ignoring a limit would oversubscribe a shared node.
DEVPLACE_COMPILABLE() int parse_thread_count(std::string_view text) {
  int first = 0;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    while (!item.empty() && (item.front() == ' ' || item.front() == '\t')) item.remove_prefix(1);
    while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) item.remove_suffix(1);
    const int value = whole_number(item);
    if (value < 1 || value > largest_thread_count)
      throw argument_error({"the environment variable OMP_NUM_THREADS is \"", text,
                            "\", which is not a positive whole number (at most ", largest_thread_count,
                            ") or a list of such numbers. Set it to the number of threads, for example "
                            "OMP_NUM_THREADS=4, or unset it to use every processor that this process may use."});
    if (first == 0) first = value;
    if (comma == std::string_view::npos) return first;
    rest.remove_prefix(comma + 1);
  }
}
DEVPLACE_COMPILED(int parse_thread_count(std::string_view))

/// The size of the process's team until set_thread_count() is called: the value of OMP_NUM_THREADS, `variable`, or the
/// number of usable processors if `variable` is null or empty.
inline int default_thread_count(const char* variable, int processors) {
  return variable == nullptr || *variable == '\0' ? processors : parse_thread_count(variable);
}

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
