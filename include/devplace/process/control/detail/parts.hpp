// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <devplace/process/control/detail/call_checker.hpp>
#include <devplace/process/control/detail/messages.hpp>
#include <devplace/process/control/detail/watched_process.hpp>
#include <devplace/process/group_monitor.hpp>
#include <devplace/process/process_options.hpp>

namespace devplace::parallel::detail {

/// The last collective calls of this process. The communicating thread writes them, wait-free; the watching one reads.
class published_calls {
 public:
  void enter(const collective_call& call) noexcept {
    const std::uint64_t number = entered_.load(std::memory_order_relaxed) + 1;
    slot& s = slots_[number % control_state::remembered];
    // A reader that sees one of the new fields also sees that the old number has been cleared.
    s.number.store(0, std::memory_order_relaxed);
    s.name.store(call.name, std::memory_order_release);
    s.count.store(call.count, std::memory_order_release);
    s.element_bytes.store(call.element_bytes, std::memory_order_release);
    s.number.store(number, std::memory_order_release);
    entered_.store(number, std::memory_order_release);
  }
  void leave() noexcept { left_.store(entered_.load(std::memory_order_relaxed), std::memory_order_release); }

  /// Enters the last call again after it was left.
  void resume() noexcept {
    const std::uint64_t last = entered_.load(std::memory_order_relaxed);
    if (last != 0) left_.store(last - 1, std::memory_order_release);
  }

  /// Reads all fields except `waited`.
  control_state read() const noexcept {
    control_state state{};
    state.left = left_.load(std::memory_order_acquire);
    state.entered = entered_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i != control_state::remembered; ++i) {
      const slot& s = slots_[i];
      const std::uint64_t number = s.number.load(std::memory_order_acquire);
      const char* const name = s.name.load(std::memory_order_acquire);
      control_call& call = state.recent[i];
      call.count = s.count.load(std::memory_order_acquire);
      call.element_bytes = s.element_bytes.load(std::memory_order_acquire);
      if (number == 0 || s.number.load(std::memory_order_relaxed) != number) continue;
      call.number = number;
      call.name = name;
    }
    return state;
  }

 private:
  struct slot {
    std::atomic<std::uint64_t> number{0};
    std::atomic<const char*> name{nullptr};
    std::atomic<std::uint64_t> count{0}, element_bytes{0};
  };
  slot slots_[control_state::remembered];
  std::atomic<std::uint64_t> entered_{0}, left_{0};
};

/// Sets `state.waited`, the seconds in the present call; `since` is the time at which the call began.
inline void update_waited(control_state& state, const control_state& before, double& since, double now) noexcept {
  if (state.entered != before.entered || before.entered == before.left) since = now;
  state.waited = state.entered != state.left ? now - since : 0;
}

/// The collective calls of this process in one part of the group. split() makes the parts.
struct part_calls {
  part_calls(std::uint64_t number, std::size_t processes) : part(number), members(processes) {}

  std::uint64_t part;   ///< identifies the part in all its processes
  std::size_t members;  ///< number of its processes
  published_calls calls;
  std::atomic<bool> closed{false};  ///< whether no further call will come

  // Used by the watching thread alone.
  control_state reported{};
  double since = 0;
  bool is_new = true;
};

class own_parts {
 public:
  std::shared_ptr<part_calls> open(std::uint64_t part, std::size_t members) {
    auto one = std::make_shared<part_calls>(part, members);
    const std::lock_guard lock(mutex_);
    parts_.push_back(one);
    return one;
  }

  /// Calls `send(message)` for each part in which this process's state has changed or this process waits in a call.
  /// Removes closed parts.
  template <class Send> void report(double now, const Send& send) {
    const std::lock_guard lock(mutex_);
    std::erase_if(parts_, [&](const std::shared_ptr<part_calls>& one) {
      const bool closed = one->closed.load(std::memory_order_acquire);  // read before the calls, so that none is missed
      control_state state = one->calls.read();
      update_waited(state, one->reported, one->since, now);
      const bool waits = state.entered != state.left;
      const bool changed = state.entered != one->reported.entered || state.left != one->reported.left;
      if (one->is_new || closed || waits || changed) send(control_part{one->part, one->members, closed, state});
      one->reported = state;
      one->is_new = false;
      return closed;
    });
  }
  /// Subtracts from the waiting times the time during which this process was stopped.
  void exclude_stop(double seconds) noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto& one : parts_) one->since += seconds;
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<part_calls>> parts_;
};

/// The parts of the group, as reported to process 0. A member that has sent no report on its part yet is still in
/// split(), which is a call of the larger group.
class watched_parts {
 public:
  explicit watched_parts(const process_options& options) : options_(options) {}

  /// Takes a process's report on a part. Removes the part when all its processes have closed it.
  void update(int rank, const control_part& report) {
    watched_part& part = parts_.try_emplace(report.part, options_).first->second;
    auto at = std::lower_bound(part.processes.begin(), part.processes.end(), rank,
                               [](const watched_process& one, int r) { return one.rank < r; });
    if (at == part.processes.end() || at->rank != rank) at = part.processes.insert(at, watched_process{.rank = rank});
    at->state = report.state;
    at->left = report.closed != 0;
    const auto left = [](const watched_process& one) { return one.left; };
    if (part.processes.size() == report.members && std::all_of(part.processes.begin(), part.processes.end(), left))
      parts_.erase(report.part);
  }

  /// Describes the first failure; empty if none is known. `all` are the processes of the group, by rank.
  std::string find_fault(const watched_processes& all, double now) {
    for (auto& [number, part] : parts_) {
      for (watched_process& one : part.processes) {
        const watched_process& known = all[static_cast<std::size_t>(one.rank)];
        one.from = known.from;
        one.left = one.left || known.left;
      }
      if (part.checker.find_fault(part.processes, now).empty()) continue;
      for (watched_process& one : part.processes) {
        const watched_process& known = all[static_cast<std::size_t>(one.rank)];
        if (known.is_waiting()) one.other_call = known.call(known.state.entered) + " of the whole group";
      }
      return joined({part.checker.find_fault(part.processes, now),
                     " These calls are in the part of the group that split() made of ", part.ranks(), "."});
    }
    return {};
  }

  void note_waiting_members(watched_processes& all) const {
    for (const auto& [number, part] : parts_)
      for (const watched_process& one : part.processes)
        if (one.is_waiting())
          all[static_cast<std::size_t>(one.rank)].other_call =
              joined({one.call(one.state.entered), " of the part with ", part.ranks()});
  }

 private:
  struct watched_part {
    explicit watched_part(const process_options& options) : checker(options) {}

    std::string ranks() const {
      return "ranks " + devplace::detail::listed(processes.size(), [this](std::size_t i) { return processes[i].rank; });
    }

    watched_processes processes;  ///< processes that have reported, by rank
    control_call_checker checker;
  };

  process_options options_;
  std::map<std::uint64_t, watched_part> parts_;
};

}  // namespace devplace::parallel::detail
