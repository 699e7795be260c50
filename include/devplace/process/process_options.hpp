// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/base/error.hpp>

namespace devplace {

/// The reaction to a failure of the group: a process ended or stopped, or makes other calls than the rest.
enum class on_failure {
  /// One process of the group writes one sentence to stderr, and every process ends with process_options::exit_code, by
  /// std::_Exit: destructors and atexit functions do not run, buffers of files are not written.
  terminate,
  /// The present or next collective call throws communication_error. A process that runs other code, such as a kernel,
  /// continues until its next collective call.
  throw_
};

/// Options for watching the processes of a group; all processes pass equal options. Times are in seconds.
struct process_options {
  /// Time limit for the processes' rendezvous at the start.
  double init_timeout = 60;
  /// Time limit of a collective call that waits for other processes; 0: none.
  double op_timeout = 300;
  /// Interval of the heartbeats, with which each process reports its collective calls. For a group made by MPI, 0
  /// switches watching off; the other options then have no effect.
  double heartbeat = 0.5;
  /// Time after which a silent process counts as failed: it was stopped, or its host is down. A failed process is
  /// killed if all processes are on one host. Time in which the watching process itself was stopped does not count. 0
  /// switches this limit off, for example to stop a process in a debugger.
  double heartbeat_timeout = 5;
  /// The process that detects a failure waits this long for the other processes to end. If the rendezvous fails,
  /// process 0 waits this long for processes that connect later, to send them the reason.
  double exit_grace = 5;
  /// The reaction to a failure.
  on_failure failure = on_failure::terminate;

  /// The exit status after a failure of the group: EX_TEMPFAIL of <sysexits.h>, which tells launchers that the job may
  /// be started again from its last checkpoint.
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
