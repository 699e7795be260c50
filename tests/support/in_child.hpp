// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace support {

/// Calls `works()` in a child of fork(), which then exits like a program, with destructors of static objects. Returns
/// "true" or "false", the function's result, or how else the child ended; SIGALRM ends a child that hangs.
template <class Function> std::string in_child(Function works) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    std::exit(works() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return "no child";
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "true" : WEXITSTATUS(status) == 1 ? "false" : "error at exit";
}

}  // namespace support
