// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/error.hpp>

namespace devplace {

/// What a process does when its group cannot go on: a process ended or stopped, or makes other calls than the rest.
enum class on_failure {
  /// One process of the group writes one sentence to stderr, and every process ends with process_options::exit_code, by
  /// std::_Exit: destructors and atexit functions are not run, buffers of files are not written.
  terminate,
  /// The next collective call throws communication_error, also one that waits now. Best effort: a process that is in
  /// other code, such as a kernel or a file's, comes back when that does.
  throw_
};

/// How processes of a group are watched. Times are in seconds. All processes of a group give the same.
struct process_options {
  /// How long the processes may take to find each other at the start.
  double init_timeout = 60;
  /// How long a collective call may wait for other processes; 0: without end.
  double op_timeout = 300;
  /// How often each process says that it is there, and which collective calls it made. 0, for a group made by MPI: the
  /// processes are not watched, and the other options have no effect.
  double heartbeat = 0.5;
  /// A process that said nothing for so long is given up, and killed if all are on one host: it was stopped, or its
  /// host is gone. Time in which the watching process itself did not run, as while a laptop is suspended, does not
  /// count. 0 switches this off, as it is needed to stop one process in a debugger.
  double heartbeat_timeout = 5;
  /// How long the process that found a failure waits for the others to end or, at the start, to come and be told.
  double exit_grace = 5;
  /// What happens after a failure.
  on_failure failure = on_failure::terminate;

  /// What a process ends with after a failure in its group: EX_TEMPFAIL of <sysexits.h>, which tells launchers that the
  /// job may be started again from its last checkpoint.
  static constexpr int exit_code = 75;
};

namespace parallel::detail {

inline void check_options(const process_options& options) {
  if (!(options.heartbeat > 0)) throw argument_error("process_options: heartbeat must be more than 0 seconds.");
  if (!(options.init_timeout > 0)) throw argument_error("process_options: init_timeout must be more than 0 seconds.");
  if (!(options.op_timeout >= 0)) throw argument_error("process_options: op_timeout must not be negative; 0 is none.");
  if (!(options.exit_grace >= 0)) throw argument_error("process_options: exit_grace must not be negative.");
  if (options.heartbeat_timeout != 0 && !(options.heartbeat_timeout >= 3 * options.heartbeat))
    throw argument_error("process_options: heartbeat_timeout must be 3 heartbeats or more, or 0 for none.");
}

}  // namespace parallel::detail

}  // namespace devplace
