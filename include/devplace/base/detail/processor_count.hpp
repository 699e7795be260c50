// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>
#include <thread>

#include <devplace/base/error.hpp>
#include <devplace/base/whole_number.hpp>
#include <devplace/config.hpp>

#if defined(__linux__)
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
  const auto fail = [text]() -> int {
    throw argument_error({"the environment variable OMP_NUM_THREADS is \"", text,
                          "\", which is not a positive whole number (at most ", largest_thread_count,
                          ") or a list of such numbers. Set it to the number of threads, for example "
                          "OMP_NUM_THREADS=4, or unset it to use every processor that this process may use."});
  };
  int first = 0;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    while (!item.empty() && (item.front() == ' ' || item.front() == '\t')) item.remove_prefix(1);
    while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) item.remove_suffix(1);
    const int value = whole_number(item);
    if (value < 1 || value > largest_thread_count) fail();
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

}  // namespace devplace::detail
