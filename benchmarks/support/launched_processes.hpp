// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace devplace::bench {

/// Calls `f()` in forked processes with the variables that torchrun would set. Returns the exit status for main.
template <class F> int in_launched_processes(int processes, const F& f) {
  const std::string size = std::to_string(processes);
  ::setenv("WORLD_SIZE", size.c_str(), 1);
  ::setenv("LOCAL_WORLD_SIZE", size.c_str(), 1);
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  ::setenv("DEVPLACE_PORT", std::to_string(20000 + ::getpid() % 10000).c_str(), 1);
  for (int rank = 0; rank < processes; ++rank) {
    if (::fork() != 0) continue;
    ::setenv("RANK", std::to_string(rank).c_str(), 1);
    ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
    f();
    return 0;
  }
  int failed = 0, status = 0;
  while (::wait(&status) > 0) failed += status != 0;
  return failed == 0 ? 0 : 1;
}

}  // namespace devplace::bench
