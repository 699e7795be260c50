// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdlib>
#include <utility>

#include <devplace/base/detail/builtin_thread_team.hpp>
#include <devplace/base/detail/team_task.hpp>
#include <devplace/base/host_memory.hpp>

namespace devplace {

/// A team of threads for devplace's CPU work: `size()` is the number of members, and `run(function)` calls
/// `function(member)` once for every member 0..size()-1, concurrently, and returns when all calls are done. The
/// function does not throw. Model this concept to lend devplace the program's own threads:
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
/// The value of size() must not change between a call of size() and the following run() on the same thread. Two threads
/// may use a team concurrently only if run() allows it, as builtin_thread_team::run() does. A team may also have
/// `keep_awake(bool)`, which team_region calls, and `is_awake()`, which returns whether run() would begin
/// without waking threads. Operations divide work of a few microseconds only while is_awake() returns true.
template <class Team>
concept thread_team = requires(Team& team, detail::team_task task) {
  { team.size() } -> std::convertible_to<int>;
  team.run(task);
};

/// A team with the calling thread only: CPU operations run inline.
struct serial_team {
  /// Always 1.
  static constexpr int size() noexcept { return 1; }

  /// Calls `function(0)`.
  template <class Function> static void run(Function&& function) { function(0); }
};

static_assert(thread_team<builtin_thread_team> && thread_team<serial_team>);

namespace detail {

struct team_reference {
  void* team = nullptr;
  int (*size)(void*) = nullptr;
  void (*run_parts)(void*, int parts, team_task) = nullptr;
  // Null if the team does not have the function.
  void (*keep_awake)(void*, bool) = nullptr;
  void (*prepare_workers)(void*, const void* tag, team_task) = nullptr;
  bool (*is_awake)(void*) = nullptr;

  template <thread_team Team> static constexpr team_reference to(Team& team) noexcept {
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
    if constexpr (requires { team.is_awake(); }) {
      reference.is_awake = [](void* object) -> bool { return static_cast<Team*>(object)->is_awake(); };
    }
    if constexpr (requires(team_task task) { team.prepare_workers(nullptr, task); }) {
      reference.prepare_workers = [](void* object, const void* tag, team_task task) {
        static_cast<Team*>(object)->prepare_workers(tag, task);
      };
    }
    return reference;
  }
};

inline serial_team serial_team_instance;

/// Ends the team's workers at exit. The team itself is not destroyed, because destructors of objects with static
/// storage duration may still run CPU operations, then on the calling thread alone.
struct process_team_owner {
  builtin_thread_team& team;
  ~process_team_owner() { team.stop(); }
};

/// The process's team, started at first use.
inline builtin_thread_team& process_team() {
  static undestroyed<builtin_thread_team> team(
      default_thread_count(std::getenv("OMP_NUM_THREADS"), usable_processors()));
  static const process_team_owner owner{team.value};
  return owner.team;
}

/// The team that a thread_team_scope chose for this thread; null: the process's team.
inline constinit thread_local const team_reference* chosen_team = nullptr;

/// The process's team as a reference. Not inlined: current_team() is part of many functions, each of which would get
/// the code that initialises the static variable.
[[gnu::noinline]] inline const team_reference& process_team_reference() {
  static const team_reference process = team_reference::to(process_team());
  return process;
}

inline const team_reference& current_team() { return chosen_team != nullptr ? *chosen_team : process_team_reference(); }

/// Whether the members of this thread's team are awake and begin work at once.
inline bool team_is_awake() {
  const team_reference& team = current_team();
  return team.is_awake != nullptr && team.is_awake(team.team);
}

}  // namespace detail

/// Size of the team that executes CPU work of this thread; 1 inside a parallel operation.
inline int thread_count() {
  const detail::team_reference& team = detail::current_team();
  return team.size(team.team);
}

/// Sets the size of the process's team, overriding OMP_NUM_THREADS and the affinity mask. Does not affect teams chosen
/// by thread_team_scope. Throws argument_error unless 1 <= count <= 4096, and error inside a team_region or a function
/// that the team is running.
inline void set_thread_count(int count) { detail::process_team().resize(count); }

/// Runs CPU operations of this thread on the given team while the scope lives. Scopes nest. Refers to the team, which
/// must outlive the scope.
class [[nodiscard]] thread_team_scope {
 public:
  /// Chooses `team` for the calling thread.
  explicit thread_team_scope(thread_team auto& team) noexcept
      : team_(detail::team_reference::to(team)), previous_(std::exchange(detail::chosen_team, &team_)) {}
  explicit thread_team_scope(const thread_team auto&&) = delete;  // a temporary team would end before the scope

  thread_team_scope& operator=(thread_team_scope&&) = delete;
  /// Restores the previous team.
  ~thread_team_scope() { detail::chosen_team = previous_; }

 private:
  detail::team_reference team_;
  const detail::team_reference* previous_;
};

/// Keeps the members of this thread's team awake between operations while the object lives. An operation then costs a
/// fork and join of spinning threads, well under a microsecond; waking sleeping threads would cost about 50 us. The
/// trainer opens a region per step. Regions nest. Idle members use their processors fully, so do not keep a region open
/// while waiting for input.
class [[nodiscard]] team_region {
 public:
  /// Keeps the team of the calling thread awake; wakes sleeping members without waiting for them.
  team_region() : team_(detail::current_team()) {
    if (team_.keep_awake != nullptr) team_.keep_awake(team_.team, true);
  }
  /// Lets the members sleep again.
  ~team_region() {
    if (team_.keep_awake != nullptr) team_.keep_awake(team_.team, false);
  }
  team_region& operator=(team_region&&) = delete;

 private:
  detail::team_reference team_;
};

}  // namespace devplace

#include <devplace/base/parallel_ranges.hpp>
