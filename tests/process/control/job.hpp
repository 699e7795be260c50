// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/process/control/plane.hpp>

#include "support/forked_ranks.hpp"

namespace devplace::test {

/// A job name that no other test uses, even concurrently.
inline std::string new_token() {
  static int jobs = 0;
  return "test-" + std::to_string(::getpid()) + "-" + std::to_string(jobs++);
}

/// Short timeouts that still tolerate a busy machine.
inline process_options quick() {
  process_options options;
  options.init_timeout = 15;
  options.heartbeat = 0.05;
  options.heartbeat_timeout = 0;
  options.exit_grace = 3;
  return options;
}

/// A full pipe, which blocks writers until somebody reads.
class full_pipe {
 public:
  full_pipe() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    ::fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    for (const char some[4096] = {}; ::write(ends_[1], some, sizeof some) > 0;) {
    }
    ::fcntl(ends_[1], F_SETFL, 0);
  }
  full_pipe(const full_pipe&) = delete;
  full_pipe& operator=(const full_pipe&) = delete;
  ~full_pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  /// Makes it the stderr of this process.
  void become_stderr() const { ::dup2(ends_[1], STDERR_FILENO); }
  /// Reads until the text arrives, for at most `seconds`; returns whether it arrived.
  bool read_until(const std::string& text, double seconds = 20) const {
    std::string all;
    for (auto turns = static_cast<int>(seconds * 10); turns > 0 && all.find(text) == std::string::npos; --turns) {
      ::pollfd waited_for{ends_[0], POLLIN, 0};
      char some[65536];
      if (::poll(&waited_for, 1, 100) == 1)
        all.append(some, static_cast<std::size_t>(::read(ends_[0], some, sizeof some)));
    }
    return all.find(text) != std::string::npos;
  }

 private:
  int ends_[2] = {-1, -1};
};

/// A collective call that all processes leave together.
inline void together(parallel::control_plane& plane, const parallel::collective_call& call = {"all_reduce", 100, 4}) {
  plane.enter(call);
  char own = 1;
  std::vector<char> all(1000);
  plane.all_gather(&own, 1, all.data());
  plane.leave();
}

/// A collective call that the other processes never enter.
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
template <class F> std::vector<forked_ranks::outcome> run_job(int size, const process_options& options, const F& f) {
  forked_ranks processes;
  start_job(processes, size, options, f);
  return processes.wait();
}

}  // namespace devplace::test
