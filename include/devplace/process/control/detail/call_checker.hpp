// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/process/control/detail/watched_process.hpp>
#include <devplace/process/process_options.hpp>

namespace devplace::parallel::detail {

/// Detects, from the processes' reports, collective calls that cannot complete. Process 0 runs it at every heartbeat.
class control_call_checker {
 public:
  explicit control_call_checker(const process_options& options) : options_(options) {}

  /// Describes the first failure; empty if none is known.
  std::string find_fault(const watched_processes& all, double now) {
    std::string fault = mismatched_call(all, now);
    if (fault.empty() && mismatched_ == 0) fault = left_early(all);
    if (fault.empty()) fault = timed_out(all);
    return fault;
  }

 private:
  /// Describes two calls that have the same number and differ. Waits one and a half heartbeats first, so that all
  /// processes have reported the call and the message can name the minority.
  std::string mismatched_call(const watched_processes& all, double now) {
    if (mismatched_ == 0) {
      mismatched_ = find_mismatch(all);
      since_ = now;
      if (mismatched_ != 0) sentence_ = describe_mismatch(all);
    }
    if (mismatched_ == 0 || now - since_ < 1.5 * options_.heartbeat) return {};
    const std::string with_all_reports = describe_mismatch(all);
    return with_all_reports.empty() ? sentence_ : with_all_reports;
  }

  /// The lowest call number at which two processes made different calls; 0 if there is none.
  static std::uint64_t find_mismatch(const watched_processes& all) {
    const auto& furthest = *std::max_element(
        all.begin(), all.end(), [](const auto& a, const auto& b) { return a.state.entered < b.state.entered; });
    std::uint64_t first = 0;
    for (const control_call& call : furthest.state.recent)
      for (const watched_process& other : all) {
        const control_call* const same = other.state.find(call.number);
        if (same != nullptr && !same->same_as(call) && (first == 0 || call.number < first)) first = call.number;
      }
    return first;
  }

  std::string describe_mismatch(const watched_processes& all) const {
    const watched_process* majority = nullptr;
    std::ptrdiff_t majority_count = 0;
    const auto agree = [&](const watched_process& a, const watched_process& b) {
      const control_call *x = a.state.find(mismatched_), *y = b.state.find(mismatched_);
      return x != nullptr && y != nullptr && x->same_as(*y);
    };
    for (const watched_process& one : all) {
      const auto count = std::count_if(all.begin(), all.end(), [&](const auto& other) { return agree(one, other); });
      if (count > majority_count) {
        majority_count = count;
        majority = &one;
      }
    }
    for (const watched_process& one : all)
      if (majority != nullptr && one.state.find(mismatched_) != nullptr && !agree(one, *majority))
        return joined({one.name(), " makes ", one.call(mismatched_), " where ", majority->name(), " makes ",
                       majority->call(mismatched_),
                       ": all processes of a group must make the same collective calls in the same order."});
    return {};
  }

  /// Describes a process that left the group before a call that another process has entered.
  static std::string left_early(const watched_processes& all) {
    const watched_process *departed = nullptr, *furthest = nullptr;
    for (const watched_process& one : all) {
      if (one.left && (departed == nullptr || one.state.entered < departed->state.entered)) departed = &one;
      if (!one.left && (furthest == nullptr || one.state.entered > furthest->state.entered)) furthest = &one;
    }
    if (departed == nullptr || furthest == nullptr || furthest->state.entered <= departed->state.entered) return {};
    return joined({departed->name(), " left the group ", departed->last(), ", and ", furthest->name(), " is ",
                   furthest->last(), ": all processes of a group must make the same number of collective calls."});
  }

  std::string timed_out(const watched_processes& all) const {
    if (options_.op_timeout == 0) return {};
    for (const watched_process& one : all) {
      if (!one.is_waiting() || one.left || one.state.waited < options_.op_timeout) continue;
      std::string missing;
      int named = 0, more = 0;
      for (const watched_process& other : all)
        if (other.state.entered < one.state.entered) {
          if (named++ < 8)
            missing += joined({missing.empty() ? "" : "; ", other.name(), " is ", other.last(),
                               other.other_call.empty() ? "" : " and waits in " + other.other_call});
          else
            ++more;
        }
      if (more != 0) missing += joined({"; and ", more, " more"});
      return joined({one.name(), " waits ", seconds_text(options_.op_timeout), " in ", one.call(one.state.entered),
                     ". ", missing.empty() ? "All processes are in this call" : "Missing: " + missing,
                     ". process_options::op_timeout says how long a call may take."});
    }
    return {};
  }

  process_options options_;
  std::uint64_t mismatched_ = 0;  // number of the first mismatched call; 0: none
  double since_ = 0;              // when the mismatch was found
  std::string sentence_;
};

}  // namespace devplace::parallel::detail
