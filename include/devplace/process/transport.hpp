// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/fork_count.hpp>
#include <devplace/process/group_monitor.hpp>

namespace devplace::parallel {

/// The position of a process in its group.
struct process_ranks {
  int rank = 0;        ///< number of the process, from 0
  int size = 1;        ///< number of processes
  int local_rank = 0;  ///< rank among the group's processes on this host
  int local_size = 1;  ///< number of the group's processes on this host
};

/// Moves bytes between the processes of a group, in host memory; MPI and shared memory are transports.
///
/// All processes make the same calls in the same order, from one thread, with the same number of buffers and the same
/// boundaries. A call returns when its work is done in this process; other processes may still be in the call. A call
/// that waits calls the monitor's check(). A call that throws leaves the transport unusable.
///
/// collect(), collect_everywhere() and distribute() can also be started, and messages only: start_collect() and the
/// like return without waiting for other processes, and the call ends in wait(), or in the poll() that returns true.
/// Until then no other call may be made, and the arguments and the memory they refer to must not change.
///
/// `begins` divides a buffer among the processes: bytes [begins[r], begins[r + 1]) are process r's part; `begins` has
/// size() + 1 ascending numbers. The last number, multiplied by the number of buffers, is at most portion().
class transport {
 public:
  /// The summands of this process's part.
  struct collected {
    /// The parts of each buffer of each process, in the order of ranks and then of buffers. Valid until the next call.
    std::span<const std::byte* const> summands;
    /// Memory for the result. distribute() need not copy a result that is already there. This memory may be this
    /// process's part of its first buffer, which is a summand; no other summand overlaps it. Valid until distribute()
    /// returns.
    std::byte* result;
  };

  /// Makes the transport of a process with these ranks.
  explicit transport(const process_ranks& ranks) : ranks_(ranks) {}
  transport& operator=(transport&&) = delete;
  virtual ~transport() = default;

  /// This process's ranks.
  const process_ranks& ranks() const noexcept { return ranks_; }
  /// Number of processes.
  int size() const noexcept { return ranks_.size; }
  /// Throws communication_error if the transport is for small values of a process_group only.
  virtual void require_for_tensors() const {}
  /// How the processes are connected, for logs: `4 processes, by shared memory`.
  virtual std::string description() const = 0;

  /// Maximum number of bytes of all buffers of a call.
  virtual std::size_t portion() const noexcept = 0;
  /// Collects this process's part of the buffers of all processes.
  ///@{
  collected collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) {
    start_collect(buffers, begins);
    wait();
    return summands();
  }
  virtual void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) = 0;
  ///@}
  /// Maximum size of a process's buffers, in bytes, for which collect_everywhere() is faster than collect() and
  /// distribute(); 0 if it never is.
  virtual std::size_t most_everywhere() const noexcept { return 0; }
  /// Collects the whole buffers of all processes, `bytes` bytes each; the result may be stored in this process's first
  /// buffer.
  ///@{
  collected collect_everywhere(std::span<std::byte* const> buffers, std::size_t bytes) {
    start_collect_everywhere(buffers, bytes);
    wait();
    return summands();
  }
  virtual void start_collect_everywhere(std::span<std::byte* const>, std::size_t /*bytes*/) {}
  ///@}
  /// Sends `part`, this process's part, to all processes, and stores the parts of all processes in each of `buffers`.
  ///@{
  void distribute(const std::byte* part, std::span<std::byte* const> buffers, std::span<const std::size_t> begins) {
    start_distribute(part, buffers, begins);
    wait();
  }
  virtual void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                                std::span<const std::size_t> begins) = 0;
  ///@}
  /// Gathers `bytes` bytes of every process, in the order of the ranks; all of them fit portion().
  void all_gather(const void* own, std::size_t bytes, void* all) {
    std::vector<std::size_t> begins(static_cast<std::size_t>(size()) + 1);
    for (std::size_t r = 0; r != begins.size(); ++r) begins[r] = r * bytes;
    std::byte* const to = static_cast<std::byte*>(all);
    distribute(static_cast<const std::byte*>(own), {&to, 1}, {begins.data(), begins.size()});
  }
  /// A message between two processes.
  struct message {
    int process;        ///< the other process, not this one
    std::byte* data;    ///< the bytes that are sent, or the memory for the received ones
    std::size_t bytes;  ///< the receiver gives the sender's number
  };
  /// Starts to send messages to some processes and to receive some, such as the ghost rows of neighbours. Of the
  /// messages from one process to another, the i-th that is listed there arrives in the i-th that is listed here. All
  /// processes make the call, also those without messages. A process sends at most message_portion() bytes.
  virtual void start_messages(std::span<const message> /*sends*/, std::span<const message> /*receives*/) {
    throw communication_error(
        "exchange: this group's transport has no messages between single processes; connect the group by shared memory "
        "or MPI.");
  }
  /// Maximum number of bytes of a process's messages in a call.
  virtual std::size_t message_portion() const noexcept { return portion(); }
  /// The transport between the same processes that sends messages in less time than this one, or null; always the same
  /// one. It reports to this transport's monitor, and while it has an open call this transport makes none. All
  /// processes call for_messages(); the first call connects them and waits for all.
  virtual std::shared_ptr<transport> for_messages() { return nullptr; }
  /// Advances the started call without waiting; returns whether it has ended.
  virtual bool poll() = 0;
  /// Returns when the started call has ended.
  virtual void wait() = 0;
  /// The summands that the last call collected, once it has ended.
  virtual collected summands() noexcept = 0;
  /// Cancels a started call that has not ended: its buffers are no longer used, and the transport becomes unusable.
  /// Does nothing if no call is open.
  virtual void give_up() noexcept {}
  /// Returns when all processes have called it.
  virtual void barrier() = 0;
  /// Connects the processes with the same `color`, ranked by `key` and then by their rank, as MPI_Comm_split.
  virtual std::shared_ptr<transport> split(int color, int key) = 0;
  /// The monitor; null if the processes are not watched.
  virtual group_monitor* monitor() noexcept { return nullptr; }

  /// Whether this process is a child, by fork(), of the process that made the transport.
  bool inherited() const noexcept { return made_in_ != devplace::detail::fork_count(); }
  /// Throws communication_error in a child of fork(), because other processes would take the child's calls for calls of
  /// the parent. Never throws in a group of one process. The message names `caller`.
  void require_own(const char* caller) const {
    if (size() == 1 || !inherited()) return;
    throw communication_error({caller, ": this process was made by fork() in rank ", ranks_.rank, " of ", size(),
                               " processes, and only the parent may communicate. Call it in the parent, before "
                               "fork() if the child needs the result."});
  }

 private:
  process_ranks ranks_;
  unsigned made_in_ = devplace::detail::fork_count();
};

/// Reports a collective call to the monitor while this object exists.
class announced_call {
 public:
  /// Reports that a call begins. Throws communication_error in a child of fork().
  announced_call(transport& group_transport, const collective_call& call) : monitor_(group_transport.monitor()) {
    group_transport.require_own(call.name);
    if (monitor_ != nullptr) monitor_->enter(call);
  }
  /// Reports that the process waits again in its last call.
  explicit announced_call(transport& group_transport) noexcept : monitor_(group_transport.monitor()) {
    if (monitor_ != nullptr) monitor_->resume();
  }
  announced_call& operator=(announced_call&&) = delete;
  ~announced_call() {
    if (monitor_ != nullptr) monitor_->leave();
  }

 private:
  group_monitor* monitor_;
};

namespace detail {

/// The ranks of the processes that call split() of the transport `by` with this `color`, in the order of their new
/// ranks. All processes call this function.
std::vector<int> members_of_part(auto& by, int color, int key) {
  struct request {
    int color, key, rank;
  };
  const request own{color, key, by.ranks().rank};
  std::vector<request> requests(static_cast<std::size_t>(by.size()));
  by.all_gather(&own, sizeof own, requests.data());
  std::erase_if(requests, [&](const request& other) { return other.color != color; });
  std::stable_sort(requests.begin(), requests.end(), [](const request& x, const request& y) { return x.key < y.key; });
  std::vector<int> members;
  for (const request& one : requests) members.push_back(one.rank);
  return members;
}

}  // namespace detail
}  // namespace devplace::parallel
