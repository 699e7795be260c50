// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/parallel/control_plane.hpp>

#include "support/forked_ranks.hpp"

namespace devplace::test {

/// A name that no other job has, also not of a test that runs at the same time.
inline std::string new_token() {
  static int jobs = 0;
  return "test-" + std::to_string(::getpid()) + "-" + std::to_string(jobs++);
}

/// Quick, and patient with a busy machine.
inline process_options quick() {
  process_options options;
  options.init_timeout = 15;
  options.heartbeat = 0.05;
  options.heartbeat_timeout = 0;
  options.exit_grace = 3;
  return options;
}

/// Gives this process a stderr that is full, so that whoever writes to it waits for ever.
inline void block_stderr() {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  for (const char some[4096] = {}; ::write(ends[1], some, sizeof some) > 0;) {
  }
  ::fcntl(ends[1], F_SETFL, 0);
  ::dup2(ends[1], STDERR_FILENO);
}

/// All processes come out of it together.
inline void together(parallel::control_plane& plane, const parallel::collective_call& call = {"all_reduce", 100, 4}) {
  plane.enter(call);
  char own = 1;
  std::vector<char> all(1000);
  plane.all_gather(&own, 1, all.data());
  plane.leave();
}

/// A call in which the others do not come.
inline void wait_in(parallel::control_plane& plane, const parallel::collective_call& call = {"all_reduce", 100, 4}) {
  plane.enter(call);
  for (int i = 0; i != 20000; ++i) {
    plane.check();
    forked_ranks::sleep_for(0.001);
  }
  throw std::runtime_error("nothing ended the call");
}

/// Starts `size` processes of a job, each of which calls f(plane, rank).
template <class F>
void start_job(forked_ranks& processes, int size, const process_options& options, const F& f,
               const std::string& token = new_token()) {
  for (int rank = 0; rank != size; ++rank)
    processes.start([&, rank] {
      parallel::control_plane plane({token, rank, size, "started by the test"}, {}, options);
      f(plane, rank);
    });
}
template <class F>
std::vector<forked_ranks::outcome> run_job(int size, const process_options& options, const F& f) {
  forked_ranks processes;
  start_job(processes, size, options, f);
  return processes.wait();
}

}  // namespace devplace::test
