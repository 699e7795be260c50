// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/base/error.hpp>

inline void throw_error() { throw dp::shape_error("x has 3 rows"); }

#include <devplace/base/error_code.hpp>

inline int error_code() {
  const std::error_code failed = dp::error_code_of([] { throw dp::shape_error("x has 3 rows"); });
  return failed == dp::errc::shape_error && dp::last_error_message()[0] != 0 ? failed.value() : 0;
}

#include <devplace/base/seed.hpp>

constexpr dp::seed start{1};

#include <devplace/base/thread_team.hpp>

inline void run_alone() {
  dp::serial_team team;
  const dp::thread_team_scope scope(team);
  const dp::team_region region;
  dp::set_thread_count(dp::thread_count());
}
