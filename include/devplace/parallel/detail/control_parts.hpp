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

#include <devplace/parallel/detail/control_judge.hpp>
#include <devplace/parallel/detail/control_wire.hpp>
#include <devplace/parallel/detail/published_calls.hpp>
#include <devplace/parallel/detail/watched_process.hpp>
#include <devplace/parallel/process_options.hpp>

namespace devplace::parallel::detail {

/// How long a process has been in a call, from what was known of it before.
inline void note_waiting(control_state& state, const control_state& before, double& since, double now) noexcept {
  if (state.entered != before.entered || before.entered == before.left) since = now;
  state.waited = state.entered != state.left ? now - since : 0;
}

/// The collective calls of a part of the processes that this process is in.
struct part_calls {
  part_calls(std::uint64_t number, std::size_t processes) : part(number), members(processes) {}

  std::uint64_t part;   ///< the same in its processes, and of no other part
  std::size_t members;  ///< number of its processes
  published_calls calls;
  std::atomic<bool> closed{false};  ///< no further call will come

  // The watching thread's.
  control_state told{};
  double since = 0;
  bool is_new = true;
};

/// The parts that this process is in.
class own_parts {
 public:
  std::shared_ptr<part_calls> open(std::uint64_t part, std::size_t members) {
    auto one = std::make_shared<part_calls>(part, members);
    const std::lock_guard lock(mutex_);
    parts_.push_back(one);
    return one;
  }

  /// Calls `tell(message)` for each part in which something has happened, or that waits; forgets those that are closed.
  template <class Tell>
  void tell(double now, const Tell& tell) {
    const std::lock_guard lock(mutex_);
    std::erase_if(parts_, [&](const std::shared_ptr<part_calls>& one) {
      const bool closed = one->closed.load(std::memory_order_acquire);  // before the calls, which are then all
      control_state state = one->calls.read();
      note_waiting(state, one->told, one->since, now);
      const bool waits = state.entered != state.left;
      const bool happened = state.entered != one->told.entered || state.left != one->told.left;
      if (one->is_new || closed || waits || happened) tell(control_part{one->part, one->members, closed, state});
      one->told = state;
      one->is_new = false;
      return closed;
    });
  }
  /// This process did not run for so long.
  void forgive(double seconds) noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto& one : parts_)
      one->since += seconds;
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<part_calls>> parts_;
};

/// What process 0 knows of all parts. A part is known as far as its processes have told of it: one that hangs before is
/// in split(), a call of a larger group.
class watched_parts {
 public:
  explicit watched_parts(const process_options& options) : options_(options) {}

  void note(int rank, const control_part& told) {
    watched_part& part = parts_.try_emplace(told.part, options_).first->second;
    auto at = std::lower_bound(part.processes.begin(), part.processes.end(), rank,
                               [](const watched_process& one, int r) { return one.rank < r; });
    if (at == part.processes.end() || at->rank != rank) at = part.processes.insert(at, watched_process{.rank = rank});
    at->state = told.state;
    at->left = told.closed != 0;
    const auto left = [](const watched_process& one) { return one.left; };
    if (part.processes.size() == told.members && std::all_of(part.processes.begin(), part.processes.end(), left))
      parts_.erase(told.part);
  }

  /// What is wrong; empty if nothing is known to be. `all` are the processes by rank.
  std::string find_fault(const watched_processes& all, double now) {
    for (auto& [number, part] : parts_) {
      for (watched_process& one : part.processes) {
        const watched_process& known = all[static_cast<std::size_t>(one.rank)];
        one.from = known.from;
        one.left = one.left || known.left;
      }
      if (part.judge.find_fault(part.processes, now).empty()) continue;
      for (watched_process& one : part.processes) {
        const watched_process& known = all[static_cast<std::size_t>(one.rank)];
        if (known.waits()) one.elsewhere = known.call(known.state.entered) + " of the whole group";
      }
      return part.judge.find_fault(part.processes, now) +
             " These are calls of a part of the group, made by split(), of " + part.ranks() + ".";
    }
    return {};
  }

  /// Adds to each process in which call of a part it waits.
  void tell_where_they_wait(watched_processes& all) const {
    for (const auto& [number, part] : parts_)
      for (const watched_process& one : part.processes)
        if (one.waits())
          all[static_cast<std::size_t>(one.rank)].elsewhere =
              one.call(one.state.entered) + " of a part of the group, of " + part.ranks();
  }

 private:
  struct watched_part {
    explicit watched_part(const process_options& options) : judge(options) {}

    std::string ranks() const {
      constexpr std::size_t most = 8;
      std::string text = "ranks";
      for (std::size_t i = 0; i != std::min(processes.size(), most); ++i)
        text += (i == 0 ? " " : ", ") + std::to_string(processes[i].rank);
      return text +
             (processes.size() > most ? " and " + std::to_string(processes.size() - most) + " more" : std::string());
    }

    watched_processes processes;  ///< those that have told of the part, by rank
    control_judge judge;
  };

  process_options options_;
  std::map<std::uint64_t, watched_part> parts_;
};

}  // namespace devplace::parallel::detail
