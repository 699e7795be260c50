// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdlib>

#include <devplace/place/detail/builtin_thread_team.hpp>
#include <devplace/place/detail/team_task.hpp>

namespace devplace {

/// What may do the CPU work of devplace: `size()` is the number of members, and `run(function)` calls
/// `function(member)` once for every member 0..size()-1, concurrently, and returns when all calls are done. The
/// function handed in does not throw. Model it to hand in threads that the program already has:
/// ```
/// struct openmp_team {
///   int size() const { return omp_get_max_threads(); }
///   void run(auto function) {
///     const int members = size();
///     #pragma omp parallel for schedule(static, 1)  // every member is called, however many threads OpenMP grants
///     for (int member = 0; member < members; ++member) function(member);
///   }
/// };
/// ```
/// size() must not change between a call of it and the run() that follows on the same thread, and two threads may use
/// one team at the same time only if run() allows it (builtin_thread_team does). A team may also have
/// `keep_awake(bool)`, which team_region calls.
template <class Team>
concept thread_team = requires(Team& team, detail::team_task task) {
  { team.size() } -> std::convertible_to<int>;
  team.run(task);
};

/// The team that has no other thread than the caller's: CPU operations run inline.
struct serial_team {
  /// 1.
  static constexpr int size() noexcept { return 1; }

  /// Calls `function(0)`.
  template <class Function>
  static void run(Function&& function) {
    function(0);
  }
};

static_assert(thread_team<builtin_thread_team> && thread_team<serial_team>);

namespace detail {

/// A team by reference, its type erased.
struct team_reference {
  void* team = nullptr;
  int (*size)(void*) = nullptr;
  void (*run_parts)(void*, int parts, team_task) = nullptr;
  void (*keep_awake)(void*, bool) = nullptr;  // null: the team has no such function

  template <thread_team Team>
  static constexpr team_reference to(Team& team) noexcept {
    team_reference reference;
    reference.team = &team;
    reference.size = [](void* object) { return static_cast<int>(static_cast<Team*>(object)->size()); };
    reference.run_parts = [](void* object, int parts, team_task task) {
      Team& members = *static_cast<Team*>(object);
      if constexpr (requires { members.run_parts(parts, task); }) {
        members.run_parts(parts, task);
      } else {
        const auto limited = [parts, task](int member) noexcept {
          if (member < parts) task(member);
        };
        members.run(team_task(limited));
      }
    };
    if constexpr (requires { team.keep_awake(true); }) {
      reference.keep_awake = [](void* object, bool on) { static_cast<Team*>(object)->keep_awake(on); };
    }
    return reference;
  }
};

inline serial_team the_serial_team;
inline constexpr team_reference serial_team_reference = team_reference::to(the_serial_team);

/// The team of the process: started at first use, joined at exit.
inline builtin_thread_team& process_team() {
  static builtin_thread_team team(default_thread_count(std::getenv("OMP_NUM_THREADS"), usable_processors()));
  return team;
}

/// Team that a thread_team_scope has chosen for this thread; null: the process's.
inline constinit thread_local const team_reference* chosen_team = nullptr;

inline const team_reference& current_team() {
  if (chosen_team != nullptr) return *chosen_team;
  static const team_reference process = team_reference::to(process_team());
  return process;
}

/// For this object's lifetime the current thread's operations use `team`.
class chosen_team_guard {
 public:
  explicit chosen_team_guard(const team_reference& team) noexcept : previous_(chosen_team) { chosen_team = &team; }
  chosen_team_guard(const chosen_team_guard&) = delete;
  chosen_team_guard& operator=(const chosen_team_guard&) = delete;
  ~chosen_team_guard() { chosen_team = previous_; }

 private:
  const team_reference* previous_;
};

}  // namespace detail

/// Size of the team that does the CPU work called for from this thread. 1 inside a parallel operation: operations do
/// not nest.
inline int thread_count() {
  const detail::team_reference& team = detail::current_team();
  return team.size(team.team);
}

/// Sets the size of the process's team, in place of OMP_NUM_THREADS and the affinity mask. Teams chosen by
/// thread_team_scope are not touched. Throws argument_error unless 1 <= count <= 4096, and error inside a team_region.
inline void set_thread_count(int count) {
  detail::process_team().resize(count);
}

/// While it lives, CPU operations called from this thread run on the given team. Scopes nest. The team is used by
/// reference and must outlive the scope.
class [[nodiscard]] thread_team_scope {
 public:
  /// Chooses `team` for the calling thread.
  template <thread_team Team>
  explicit thread_team_scope(Team& team) noexcept : reference_(detail::team_reference::to(team)), guard_(reference_) {}

  thread_team_scope(const thread_team_scope&) = delete;
  thread_team_scope& operator=(const thread_team_scope&) = delete;

 private:
  detail::team_reference reference_;
  detail::chosen_team_guard guard_;
};

/// While it lives, the members of this thread's team stay awake between operations, so that each operation costs a
/// fork and join of waiting threads (well under a microsecond) and not the waking of sleeping ones (some 50 us). The
/// trainer opens one per step. Regions nest. Idle members use their processors in full: do not hold one across waiting
/// for input.
class [[nodiscard]] team_region {
 public:
  /// From now on the members of the calling thread's team do not go to sleep; those that sleep wake at the next
  /// operation.
  team_region() : team_(detail::current_team()) {
    if (team_.keep_awake != nullptr) team_.keep_awake(team_.team, true);
  }
  /// Lets them sleep.
  ~team_region() {
    if (team_.keep_awake != nullptr) team_.keep_awake(team_.team, false);
  }
  team_region(const team_region&) = delete;
  team_region& operator=(const team_region&) = delete;

 private:
  detail::team_reference team_;
};

}  // namespace devplace

#include <devplace/place/detail/parallel_for.hpp>
