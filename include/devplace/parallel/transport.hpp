// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <devplace/parallel/group_monitor.hpp>
#include <devplace/place/detail/fork_count.hpp>
#include <devplace/place/error.hpp>

namespace devplace::parallel {

/// Which process of a group this is.
struct process_ranks {
  int rank = 0;        ///< from 0 on
  int size = 1;        ///< number of processes
  int local_rank = 0;  ///< the same among the group's processes on this host
  int local_size = 1;  ///< number of the group's processes on this host
};

/// Moves bytes between the processes of a group, in host memory: what MPI or shared memory do for a process_group.
///
/// All processes make the same calls in the same order, from one thread, with the same number of buffers and the same
/// boundaries. A call returns when its work is done here; other processes may then still be in it. While it waits, it
/// calls the monitor's check(). A call that throws leaves the transport unusable.
///
/// collect(), collect_everywhere() and distribute() can also be started: start_collect() and the like return without
/// waiting for other processes, and the call ends in wait(), or in the poll() that returns true. Until then no other
/// call is made, and the arguments, with all that they refer to, must exist and not change.
///
/// `begins` divides a buffer among the processes: bytes [begins[r], begins[r + 1]) are process r's part; it has
/// size() + 1 ascending numbers, and the number of buffers times its last one is at most portion().
class transport {
 public:
  /// The summands of this process's part.
  struct collected {
    /// Of all processes in the order of ranks, each with its buffers in their order. Valid until the next call.
    std::span<const std::byte* const> summands;
    /// Where the result may be put, so that distribute() need not copy it: memory for the part. It can be the part of
    /// this process's first buffer, which is a summand; other summands do not overlap it. Valid until distribute()
    /// returns.
    std::byte* result;
  };

  /// For a process with these ranks.
  explicit transport(const process_ranks& ranks) : ranks_(ranks) {}
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  /// Which process this is.
  const process_ranks& ranks() const noexcept { return ranks_; }
  /// Number of processes.
  int size() const noexcept { return ranks_.size; }
  /// Throws communication_error if it is for small values of a process_group only, and not for tensors.
  virtual void require_for_tensors() const {}
  /// How the processes are connected, for logs: `4 processes, by shared memory`.
  virtual std::string description() const = 0;

  /// The most bytes of all buffers of a call.
  virtual std::size_t portion() const noexcept = 0;
  /// Gets of every process's buffers this process's part.
  ///@{
  collected collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) {
    start_collect(buffers, begins);
    wait();
    return summands();
  }
  virtual void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) = 0;
  ///@}
  /// Up to how many bytes of a process's buffers it takes less time that all processes get all summands, by
  /// collect_everywhere(), than that each gets those of its part, and distributes the result: 0 if it never does.
  virtual std::size_t most_everywhere() const noexcept { return 0; }
  /// Gets of every process's buffers, `bytes` each, all; the result's place is this process's first buffer.
  ///@{
  collected collect_everywhere(std::span<std::byte* const> buffers, std::size_t bytes) {
    start_collect_everywhere(buffers, bytes);
    wait();
    return summands();
  }
  virtual void start_collect_everywhere(std::span<std::byte* const>, std::size_t /*bytes*/) {}
  ///@}
  /// Gives `part`, this process's part, to all processes: afterwards all parts are in each of `buffers`.
  ///@{
  void distribute(const std::byte* part, std::span<std::byte* const> buffers, std::span<const std::size_t> begins) {
    start_distribute(part, buffers, begins);
    wait();
  }
  virtual void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                                std::span<const std::size_t> begins) = 0;
  ///@}
  /// Whether the call that was started last has ended. Does for it what can be done without waiting.
  virtual bool poll() = 0;
  /// Returns when the call that was started last has ended.
  virtual void wait() = 0;
  /// What the last call has collected, after its end.
  virtual collected summands() noexcept = 0;
  /// Gives up a call that has been started and not ended, so that its buffers are not used any more; the transport is
  /// unusable afterwards. Does nothing if there is none.
  virtual void give_up() noexcept {}
  /// Returns when all processes have called it.
  virtual void barrier() = 0;
  /// Connects the processes that give the same `color`, ranked by `key` and then by their rank, as MPI_Comm_split.
  virtual std::shared_ptr<transport> split(int color, int key) = 0;
  /// Null if nobody watches the processes.
  virtual group_monitor* monitor() noexcept { return nullptr; }

  /// Whether this process is a child of fork() of the one that made the transport.
  bool inherited() const noexcept { return made_in_ != devplace::detail::fork_count(); }
  /// Throws communication_error in such a child, which would take part in the group's calls as a second process with
  /// its parent's rank. `what` wants to communicate. A process alone has a group of its own in its children, too.
  void require_own(const char* what) const {
    if (size() == 1 || !inherited()) return;
    throw communication_error(std::string(what) + ": this process was made by fork() in rank " +
                              std::to_string(ranks_.rank) + " of " + std::to_string(size()) +
                              " processes, whose calls are for that rank alone. Call it in the parent, before fork() "
                              "if the child needs the result.");
  }

 private:
  process_ranks ranks_;
  unsigned made_in_ = devplace::detail::fork_count();
};

/// Tells the monitor that a collective call runs while this object exists.
class announced_call {
 public:
  /// The call begins. Throws communication_error in a child of fork().
  announced_call(transport& via, const collective_call& call) : monitor_(via.monitor()) {
    via.require_own(call.name);
    if (monitor_ != nullptr) monitor_->enter(call);
  }
  /// The process waits again in its last call.
  explicit announced_call(transport& via) noexcept : monitor_(via.monitor()) {
    if (monitor_ != nullptr) monitor_->resume();
  }
  announced_call(const announced_call&) = delete;
  announced_call& operator=(const announced_call&) = delete;
  ~announced_call() {
    if (monitor_ != nullptr) monitor_->leave();
  }

 private:
  group_monitor* monitor_;
};

}  // namespace devplace::parallel
