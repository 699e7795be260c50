// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/base/hash.hpp>
#include <devplace/base/host.hpp>
#include <devplace/process/control/detail/hub.hpp>
#include <devplace/process/control/detail/spoke.hpp>
#include <devplace/process/control/endpoint.hpp>
#include <devplace/process/group_monitor.hpp>
#include <devplace/process/process_options.hpp>

namespace devplace::parallel {

namespace detail {
class monitor_of_calls_of_part;
}

/// A control connection between the processes of a group, in addition to the data connection. The processes use it to
/// rendezvous and to exchange addresses. All processes learn at once if one of them ended, stopped, or makes other
/// collective calls than the rest. process_options::failure selects the reaction.
///
/// Process 0 listens, the others connect; all messages go through process 0. Process 0 refuses processes of other users
/// (on one host), with another token, or with another version of the library. Over a network process 0 stops listening
/// when the group is complete; messages are neither encrypted nor signed, so whoever can read or change them can end
/// the job.
///
/// One thread of each process sends and receives, with all signals blocked. The destructor leaves the group and ends
/// the thread; in process 0 it returns when all processes have left. A destructor that runs because of an exception
/// ends the group. A process that ends without the destructor, even by exit(0), counts as failed. Children of fork()
/// cannot use the connection.
class control_plane final : public group_monitor {
 public:
  /// Returns when all processes of the job have connected. Throws communication_error if some do not connect within
  /// init_timeout, if ranks or sizes contradict each other, or if process 0 cannot listen at the endpoint.
  explicit control_plane(const job_member& member, const control_endpoint& endpoint = {},
                         const process_options& options = {})
      : control_plane(member, endpoint, nullptr, options) {}
  /// Uses the listener that process 0 has created before.
  control_plane(const job_member& member, control_listener listener, const process_options& options = {})
      : control_plane(member, listener.endpoint(), &listener, options) {}

  control_plane& operator=(control_plane&&) = delete;
  ~control_plane() override {
    if (::getpid() != process_) {  // a child of fork() does not have the thread
      static_cast<void>(thread_.release());
      static_cast<void>(role_.release());  // the thread may hold its mutex
      return;
    }
    role_->leave(std::uncaught_exceptions() > exceptions_ ? detail::leaving::by_exception : detail::leaving::in_order);
    thread_->join();
  }

  /// Gathers `bytes` bytes, at most 64 KiB, of each process in `all`, in the order of the ranks. Every process calls
  /// this function, from one thread. The last process must call it within init_timeout after the first process, or
  /// within op_timeout inside a collective call. Throws communication_error if a process does not call this function,
  /// or passes another number of bytes.
  void all_gather(const void* own, std::size_t bytes, void* all) { all_gather({}, own, bytes, all, 0); }
  /// Gathers from the processes with the ranks `members`, in this order; from all if `members` is empty. Each process
  /// passes the same `members`, its own number of bytes, and the sum of all these numbers as `bytes_of_all`. Calls with
  /// different numbers `part` do not meet.
  void all_gather(std::span<const std::int32_t> members, const void* own, std::size_t bytes, void* all,
                  std::size_t bytes_of_all, std::uint64_t part = 0) {
    if (::getpid() != process_)
      throw communication_error("control_plane: call it in the process that made it, not in a child of fork().");
    if (bytes > detail::control_gather_limit)
      throw argument_error({"control_plane: an exchange of ", bytes,
                            " bytes; the maximum is 65536 bytes of each process. Send data by a process_group."});
    role_->exchange(members, part, own, bytes, all, bytes_of_all);
  }

  /// The name of the host that a process is on.
  std::string host(int rank) const { return role_->processes().at(static_cast<std::size_t>(rank)).from.host.str(); }

  void enter(const collective_call& call) noexcept override { role_->calls.enter(call); }
  void leave() noexcept override { role_->calls.leave(); }
  void resume() noexcept override { role_->calls.resume(); }
  void check() override { role_->check(); }
  void explain() override { role_->explain(); }
  process_options options() const override { return role_->options(); }
  std::shared_ptr<group_monitor> part(std::span<const int> members) override;

 private:
  control_plane(const job_member& member, const control_endpoint& endpoint, control_listener* listener,
                const process_options& options)
      : process_(::getpid()), exceptions_(std::uncaught_exceptions()) {
    detail::check_options(options);
    if (member.size < 1 || member.rank < 0 || member.rank >= member.size)
      throw argument_error({"control_plane: rank ", member.rank, " of ", member.size,
                            " processes; ranks go from 0 to the number of processes less one."});
    detail::control_address own{process_, {}};
    own.host = devplace::detail::host_name().c_str();
    if (member.rank != 0) {
      role_ = std::make_unique<detail::control_spoke>(member, endpoint, own, options);
    } else {
      control_listener own_listener = listener != nullptr ? std::move(*listener) : control_listener(member, endpoint);
      role_ = std::make_unique<detail::control_hub>(member, own_listener.endpoint(), std::move(own_listener.socket_),
                                                    own, options);
    }
    // The thread has all signals blocked, so that the program's own threads handle them.
    ::sigset_t every, before;
    ::sigfillset(&every);
    ::pthread_sigmask(SIG_SETMASK, &every, &before);
    try {
      thread_ = std::make_unique<std::thread>([role = role_.get()] { role->run(); });
    } catch (...) {
      ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw communication_error(
          "the system gives no thread to watch the processes of the group. Raise the "
          "user's limit of threads (ulimit -u), or the container's.");
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  friend class detail::monitor_of_calls_of_part;

  ::pid_t process_;
  int exceptions_;
  std::uint64_t splits_ = 0;
  std::unique_ptr<detail::control_role> role_;
  std::unique_ptr<std::thread> thread_;
};

namespace detail {

/// Reports the collective calls of a part of the group to the control plane.
class monitor_of_calls_of_part final : public monitor_of_part {
 public:
  /// Monitors the part that call number `split` of split() has made of the group with number `group`, which may be a
  /// part too. `members` are ranks of the whole group.
  monitor_of_calls_of_part(std::shared_ptr<control_plane> plane, std::vector<int> members, std::uint64_t group,
                           std::uint64_t split)
      : monitor_of_part(plane), plane_(std::move(plane)), members_(std::move(members)) {
    const int first = *std::min_element(members_.begin(), members_.end());
    part_ = plane_->role_->parts.open(devplace::detail::hash_of(group, split, first), members_.size());
  }
  ~monitor_of_calls_of_part() override { part_->closed.store(true, std::memory_order_release); }

  void enter(const collective_call& call) noexcept override { part_->calls.enter(call); }
  void leave() noexcept override { part_->calls.leave(); }
  void resume() noexcept override { part_->calls.resume(); }
  std::shared_ptr<group_monitor> part(std::span<const int> members) override {
    std::vector<int> of_whole;
    for (const int r : members) of_whole.push_back(members_.at(static_cast<std::size_t>(r)));
    return std::make_shared<monitor_of_calls_of_part>(plane_, std::move(of_whole), part_->part, ++splits_);
  }

 private:
  std::shared_ptr<control_plane> plane_;
  std::vector<int> members_;
  std::shared_ptr<part_calls> part_;
  std::uint64_t splits_ = 0;
};

}  // namespace detail

inline std::shared_ptr<group_monitor> control_plane::part(std::span<const int> members) {
  return std::make_shared<detail::monitor_of_calls_of_part>(std::static_pointer_cast<control_plane>(shared_from_this()),
                                                            std::vector<int>(members.begin(), members.end()), 0,
                                                            ++splits_);
}

}  // namespace devplace::parallel
