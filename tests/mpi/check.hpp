// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

namespace devplace::test {

/// Throws, which fails this rank's test, unless `holds`.
inline void check(bool holds, const char* what, const char* file, int line) {
  if (!holds) throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": EXPECT(" + what + ") failed");
}

/// Fails unless f() throws an Exception whose message contains `part`.
template <class Exception, class F> void check_throws(const F& f, const std::string& part, const char* file, int line) {
  std::string message = "nothing was thrown";
  try {
    f();
  } catch (const Exception& refused) {
    message = refused.what();
    if (message.find(part) != std::string::npos) return;
  }
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + message);
}

/// Calls f() and ends the process. A failed process does not wait for the others: the launcher ends them.
template <class F> [[noreturn]] void run_rank(const F& f) {
  try {
    f();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    std::fflush(nullptr);
    std::_Exit(1);
  }
  std::exit(0);
}

}  // namespace devplace::test

// The macros are not named CHECK and CHECK_THROWS, as in Catch2, because the precompiled header includes Catch2.
#define EXPECT(...) devplace::test::check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define EXPECT_THROWS(exception, part, ...) \
  devplace::test::check_throws<exception>([&] { static_cast<void>(__VA_ARGS__); }, part, __FILE__, __LINE__)
