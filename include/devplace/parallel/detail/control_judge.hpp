// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/parallel/detail/watched_process.hpp>
#include <devplace/parallel/process_options.hpp>

namespace devplace::parallel::detail {

/// Decides, from what the processes say, whether their calls can still meet. Process 0 asks it at every heartbeat.
class control_judge {
 public:
  explicit control_judge(const process_options& options) : options_(options) {}

  /// What is wrong; empty if nothing is known to be.
  std::string find_fault(const watched_processes& all, double now) {
    std::string fault = other_call(all, now);
    if (fault.empty() && differing_ == 0) fault = left_before(all);
    if (fault.empty()) fault = too_long(all);
    return fault;
  }

 private:
  /// Two processes describe a call of the same number in different ways. Who is in the minority is known when all have
  /// sent their calls.
  std::string other_call(const watched_processes& all, double now) {
    if (differing_ == 0) {
      differing_ = find_differing(all);
      since_ = now;
      if (differing_ != 0) sentence_ = describe_differing(all);
    }
    if (differing_ == 0 || now - since_ < 1.5 * options_.heartbeat) return {};
    const std::string known_by_all = describe_differing(all);
    return known_by_all.empty() ? sentence_ : known_by_all;
  }

  static std::uint64_t find_differing(const watched_processes& all) {
    const auto& ahead = *std::max_element(
        all.begin(), all.end(), [](const auto& a, const auto& b) { return a.state.entered < b.state.entered; });
    std::uint64_t first = 0;
    for (const control_call& call : ahead.state.recent)
      for (const watched_process& other : all) {
        const control_call* const same = other.state.find(call.number);
        if (same != nullptr && !same->same_as(call) && (first == 0 || call.number < first)) first = call.number;
      }
    return first;
  }

  std::string describe_differing(const watched_processes& all) const {
    const watched_process* most = nullptr;
    std::ptrdiff_t most_count = 0;
    const auto agree = [&](const watched_process& a, const watched_process& b) {
      const control_call *x = a.state.find(differing_), *y = b.state.find(differing_);
      return x != nullptr && y != nullptr && x->same_as(*y);
    };
    for (const watched_process& one : all) {
      const auto count = std::count_if(all.begin(), all.end(), [&](const auto& other) { return agree(one, other); });
      if (count > most_count) {
        most_count = count;
        most = &one;
      }
    }
    for (const watched_process& one : all)
      if (most != nullptr && one.state.find(differing_) != nullptr && !agree(one, *most))
        return one.name() + " makes " + one.call(differing_) + " where " + most->name() + " makes " +
               most->call(differing_) +
               ": all processes of a group must make the same collective calls in the same order.";
    return {};
  }

  static std::string left_before(const watched_processes& all) {
    const watched_process *gone = nullptr, *ahead = nullptr;
    for (const watched_process& one : all) {
      if (one.left && (gone == nullptr || one.state.entered < gone->state.entered)) gone = &one;
      if (!one.left && (ahead == nullptr || one.state.entered > ahead->state.entered)) ahead = &one;
    }
    if (gone == nullptr || ahead == nullptr || ahead->state.entered <= gone->state.entered) return {};
    return gone->name() + " left the group " + gone->last() + ", and " + ahead->name() + " is " + ahead->last() +
           ": all processes of a group must make the same number of collective calls.";
  }

  std::string too_long(const watched_processes& all) const {
    if (options_.op_timeout == 0) return {};
    for (const watched_process& one : all) {
      if (!one.waits() || one.left || one.state.waited < options_.op_timeout) continue;
      std::string missing;
      int named = 0, more = 0;
      for (const watched_process& other : all)
        if (other.state.entered < one.state.entered) {
          if (named++ < 8)
            missing += (missing.empty() ? "" : "; ") + other.name() + " is " + other.last() +
                       (other.elsewhere.empty() ? "" : " and waits in " + other.elsewhere);
          else
            ++more;
        }
      if (more != 0) missing += "; and " + std::to_string(more) + " more";
      return one.name() + " waits " + seconds_text(options_.op_timeout) + " in " + one.call(one.state.entered) + ". " +
             (missing.empty() ? "All processes are in this call" : "Missing: " + missing) +
             ". process_options::op_timeout says how long a call may take.";
    }
    return {};
  }

  process_options options_;
  std::uint64_t differing_ = 0;
  double since_ = 0;
  std::string sentence_;
};

}  // namespace devplace::parallel::detail
