// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>
#include <time.h>

#include <cstddef>
#include <vector>

#include <devplace/base/clock.hpp>
#include <devplace/process/mpi_calls.hpp>

namespace devplace::parallel::detail {

/// This number, divided by the square of the number of processes, is the maximum size in bytes for which one exchange
/// of whole buffers is faster than two exchanges of parts. Libraries use slower protocols for larger messages. Measured
/// by all_reduce_mpi_bench.
#ifdef OPEN_MPI
inline constexpr std::size_t small_mpi_messages = std::size_t{48} << 10;
#else
inline constexpr std::size_t small_mpi_messages = std::size_t{32} << 10;
#endif

/// Backoff between two polls of MPI.
class poll_backoff {
 public:
  /// `oversubscribed`: there are more processes than processors.
  explicit poll_backoff(bool oversubscribed) : spin_time_(oversubscribed ? 5e-6 : 1e-3) {}

  /// Returns false at once during the first polls, because most messages arrive soon. Afterwards it yields the
  /// processor. It sleeps if nothing has arrived for 10 ms, or if a yield took long because another program used the
  /// processor: after a sleep the scheduler gives this process the processor sooner.
  bool pause() {
    if (began_ == 0 && ++polls_ < 20) return false;  // reading the clock takes as long as a poll
    const double now = devplace::detail::monotonic_seconds();
    if (began_ == 0) began_ = now;
    if (now - began_ < spin_time_) return false;
    if (sleeps_ > 0 || now - began_ > 10e-3) {
      sleep();
      if (sleeps_ > 0) --sleeps_;
    } else {
      sched_yield();
      if (devplace::detail::monotonic_seconds() - now > 200e-6) sleeps_ = 20;
    }
    return true;
  }

  static void sleep() {
    const timespec shortly{0, 20'000};
    nanosleep(&shortly, nullptr);
  }

 private:
  int polls_ = 0, sleeps_ = 0;
  double spin_time_, began_ = 0;
};

/// The messages of one call that are in flight. Waits by polling, never by a blocking call of MPI, so that the group's
/// monitor is polled too and other processes get the processor. Polls by MPI_Test, because MPICH names the cause of an
/// error of MPI_Testsome or MPI_Testall only in a status, and by default ends the program before anyone reads it.
class mpi_messages {
 public:
  explicit mpi_messages(bool oversubscribed) : oversubscribed_(oversubscribed) {}

  void receive(MPI_Comm communicator, int tag, int from, std::byte* to, std::size_t bytes) {
    if (bytes == 0) return;
    MPI_Request& request = add(bytes);
    check_mpi("MPI_Irecv", MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, from, tag, communicator, &request));
  }
  void send(MPI_Comm communicator, int tag, int to, const std::byte* from, std::size_t bytes) {
    if (bytes == 0) return;
    MPI_Request& request = add(sent);
    check_mpi("MPI_Isend", MPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, to, tag, communicator, &request));
  }
  /// Starts a collective of MPI by `start(&request)`, which calls MPI's function `name`.
  template <class Start> void start_collective(const char* name, const Start& start) {
    MPI_Request& request = add(collective);
    check_mpi(name, start(&request));
  }

  bool empty() const noexcept { return requests_.empty(); }

  /// Returns when all messages have arrived and sent buffers may be overwritten. MPICH reports a message that is longer
  /// than expected to the error handler of MPI_COMM_WORLD, which ends the program unless the user has set another.
  void wait(group_monitor* monitor) {
    for (started_request& one : requests_) {
      poll_backoff backoff(oversubscribed_);
      while (!test(one, monitor))
        if (backoff.pause() && monitor != nullptr) monitor->check();
    }
    requests_.clear();
  }
  /// Polls MPI; returns whether all messages have arrived.
  bool progress(group_monitor* monitor) {
    for (started_request& one : requests_)
      if (!test(one, monitor)) return false;
    requests_.clear();
    return true;
  }

  /// Cancels the messages after an exception. Returns false if MPI may still write to a buffer: a message that has
  /// begun to arrive cannot be cancelled.
  bool abandon() noexcept {
    bool cancelled = true;
    for (auto& [request, expected] : requests_) {
      if (request == MPI_REQUEST_NULL || expected == collective) continue;
      if (expected == sent) {
        MPI_Request_free(&request);  // sending cannot be cancelled
        continue;
      }
      MPI_Cancel(&request);
      int done = 0;
      for (int tries = 0; done == 0 && tries != 1000; ++tries) {
        if (tries != 0) poll_backoff::sleep();
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      }
      cancelled = cancelled && done != 0;
    }
    requests_.clear();
    return cancelled;
  }

 private:
  struct started_request {
    MPI_Request request;
    std::size_t expected;  ///< bytes to receive; `sent` or `collective` for other requests
  };
  static constexpr std::size_t sent = 0, collective = static_cast<std::size_t>(-1);

  static bool test(started_request& one, group_monitor* monitor) {
    int arrived = 0;
    MPI_Status status{};
    const bool receives = one.expected != sent && one.expected != collective &&
                          one.request != MPI_REQUEST_NULL;  // otherwise an earlier test has completed it
    const int code = MPI_Test(&one.request, &arrived, &status);
    if (code == MPI_SUCCESS && (arrived == 0 || !receives || length(status) == one.expected)) return arrived != 0;
    if (monitor != nullptr) monitor->explain();
    check_mpi("MPI_Test", code);
    throw communication_error({"rank ", status.MPI_SOURCE, " of the group sent ", length(status), " bytes where ",
                               one.expected,
                               " were expected. The processes of a group must make the same "
                               "calls in the same order, with as many elements."});
  }

  MPI_Request& add(std::size_t expected) {
    requests_.push_back({MPI_REQUEST_NULL, expected});
    return requests_.back().request;
  }

  static std::size_t length(const MPI_Status& status) {
    int bytes = 0;
    check_mpi("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &bytes));
    return static_cast<std::size_t>(bytes);
  }

  bool oversubscribed_;
  std::vector<started_request> requests_;
};

}  // namespace devplace::parallel::detail
