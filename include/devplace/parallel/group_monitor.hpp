// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <devplace/parallel/process_options.hpp>

namespace devplace::parallel {

/// A call that all processes of a group make together. Processes whose calls of the same number differ have made a
/// mistake, which a group_monitor can find by comparing these.
struct collective_call {
  const char* name;           ///< as in `all_reduce`; a literal
  std::size_t count;          ///< number of elements of one buffer
  std::size_t element_bytes;  ///< size of an element
};

/// Watches the processes of a group, so that a process that ended, stopped or makes other calls than the rest is found
/// and named instead of being waited for. Made by what starts a group; a group of one process has none.
class group_monitor : public std::enable_shared_from_this<group_monitor> {
 public:
  virtual ~group_monitor() = default;

  /// A collective call begins, or has ended, in this process. Called by the one thread that communicates.
  ///@{
  virtual void enter(const collective_call& call) noexcept = 0;
  virtual void leave() noexcept = 0;
  ///@}
  /// Until leave(), the process waits again in its last call, which it had left to do other work meanwhile.
  virtual void resume() noexcept {}

  /// Called again and again, from the same thread, while a collective call waits for other processes. Throws
  /// communication_error if the call can never end.
  virtual void check() = 0;

  /// Called by a transport that found out by itself that a call can never end, before it throws. The monitor may hear
  /// why: then it throws communication_error that says so, or ends the process. Otherwise it returns after a short
  /// time.
  virtual void explain() {}

  /// The monitor of a part of the processes, made by split(): `members` are their ranks here, in the order of their
  /// ranks in the part. All of these processes call it when they make the part, whose calls are numbered apart. By
  /// default these are not compared: the monitor only hears that the processes end or stop. For a monitor that is owned
  /// by a shared_ptr.
  inline virtual std::shared_ptr<group_monitor> part(std::span<const int> members);

  /// How long calls may take in this group.
  virtual process_options options() const { return {}; }
};

namespace detail {

/// Watches the processes of a part, but not their calls.
class monitor_of_part final : public group_monitor {
 public:
  explicit monitor_of_part(std::shared_ptr<group_monitor> whole) : whole_(std::move(whole)) {}

  void enter(const collective_call&) noexcept override {}
  void leave() noexcept override {}
  void check() override { whole_->check(); }
  void explain() override { whole_->explain(); }
  process_options options() const override { return whole_->options(); }

 private:
  std::shared_ptr<group_monitor> whole_;
};

}  // namespace detail

inline std::shared_ptr<group_monitor> group_monitor::part(std::span<const int>) {
  return std::make_shared<detail::monitor_of_part>(shared_from_this());
}

}  // namespace devplace::parallel
