// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <devplace/process/process_options.hpp>

namespace devplace::parallel {

/// A call that all processes of a group make together. Calls with the same number must be equal in all processes; a
/// group_monitor compares them.
struct collective_call {
  const char* name;           ///< such as `all_reduce`; a literal
  std::size_t count;          ///< number of elements of one buffer
  std::size_t element_bytes;  ///< size of an element
};

/// Watches the processes of a group. If a process ends, stops or makes different calls, the others report this instead
/// of waiting. The function that makes a group also makes the monitor; a group of one process has none.
class group_monitor : public std::enable_shared_from_this<group_monitor> {
 public:
  virtual ~group_monitor() = default;

  /// Notes that a collective call begins, or has ended, in this process. Called by the communicating thread.
  ///@{
  virtual void enter(const collective_call& call) noexcept = 0;
  virtual void leave() noexcept = 0;
  ///@}
  /// Notes that the process waits again in its last call, which it had left to do other work. leave() ends the wait.
  virtual void resume() noexcept {}

  /// Throws communication_error if the present call cannot complete. Called repeatedly, by the communicating thread,
  /// while a collective call waits for other processes.
  virtual void check() = 0;

  /// Waits briefly for the cause of a failure that a transport has detected. Then throws a communication_error that
  /// names the cause, or ends the process; returns if the cause remains unknown. Called before the transport throws.
  virtual void explain() {}

  /// Makes the monitor of a part that split() has made of this group. `members` are the ranks that the part's
  /// processes have in this group, in the order of their ranks in the part. All these processes call this function.
  /// Calls of the part are numbered separately. By default the monitor does not compare these calls; it only detects
  /// processes that end or stop.
  /// Requires that a shared_ptr owns this monitor.
  inline virtual std::shared_ptr<group_monitor> part(std::span<const int> members);

  /// The options of the group, which limit the time of calls.
  virtual process_options options() const { return {}; }
};

namespace detail {

/// Watches the processes of a part, but not their calls.
class monitor_of_part : public group_monitor {
 public:
  explicit monitor_of_part(std::shared_ptr<group_monitor> monitor) : monitor_(std::move(monitor)) {}

  void enter(const collective_call&) noexcept override {}
  void leave() noexcept override {}
  void check() override { monitor_->check(); }
  void explain() override { monitor_->explain(); }
  process_options options() const override { return monitor_->options(); }

 private:
  std::shared_ptr<group_monitor> monitor_;
};

}  // namespace detail

inline std::shared_ptr<group_monitor> group_monitor::part(std::span<const int>) {
  return std::shared_ptr<group_monitor>(new detail::monitor_of_part(shared_from_this()));
}

}  // namespace devplace::parallel
