// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/function_view.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

// Type-erased implementations of the loops below, so that each loop is compiled once.
DEVPLACE_COMPILABLE([[gnu::noinline]]) void run_members(int parts, function_view<int> function) {
  if (parts <= 0) return;
  const team_reference& team = current_team();
  first_exception errors;
  const auto serially = [&function](int part) {
    const thread_team_scope serial(serial_team_instance);
    function(part);
  };
  const auto task = guarded(serially, errors);
  if (parts == 1) {
    task(0);
  } else {
    team.run_parts(team.team, parts, team_task(task));
  }
  errors.rethrow();
}
DEVPLACE_COMPILED(void run_members(int, function_view<int>))

/// Calls `function` on this thread and, once for each `tag`, on the other threads of this thread's team, to prepare
/// thread-local memory. Rethrows the exception of the member with the lowest number that threw.
inline void prepare_threads(const void* tag, function_view<int> function) {
  const team_reference& team = current_team();
  if (team.prepare_workers == nullptr) return run_members(team.size(team.team), function);
  first_exception errors;
  const auto task = guarded(function, errors);
  task(0);
  team.prepare_workers(team.team, tag, team_task(task));
  errors.rethrow();
}

DEVPLACE_COMPILABLE([[gnu::noinline]])
void run_ranges(std::size_t n, std::size_t grain, function_view<std::size_t, std::size_t> function) {
  if (n == 0) return;
  if (grain == 0) grain = 1;
  const std::size_t whole_grains = n / grain;
  const std::size_t members = whole_grains < 2 ? 1 : static_cast<std::size_t>(thread_count());
  const std::size_t parts = members < whole_grains ? members : whole_grains;
  if (parts <= 1) {
    function(std::size_t{0}, n);
    return;
  }
  const std::size_t grains = divided_up(n, grain);
  const auto part_of = [&](int part) {
    const auto index = static_cast<std::size_t>(part);
    const std::size_t begin = part_begin(grains, parts, index) * grain;
    const std::size_t end = part_begin(grains, parts, index + 1) * grain;
    function(begin, end < n ? end : n);
  };
  run_members(static_cast<int>(parts), function_view<int>(part_of));
}
DEVPLACE_COMPILED(void run_ranges(std::size_t, std::size_t, function_view<std::size_t, std::size_t>))

/// Calls `function(part)` for parts 0..parts-1, part i on member i of this thread's team. Parallel loops nested in the
/// function run serially. After all calls are done, rethrows the exception of the part with the lowest number that
/// threw. Requires parts <= thread_count(). Does not allocate.
template <class Function> void parallel_members(int parts, Function&& function) {
  run_members(parts, function_view<int>(function));
}

/// Calls `function(begin, end)` for contiguous ranges that cover 0..n-1, one range per member of this thread's team.
/// Ranges end at multiples of `grain` (or n) and have at least `grain` indices. If n is below 2 * grain, the calling
/// thread runs them all. The split depends only on n, grain and the team's size. With several ranges, rethrows
/// exceptions and runs nested loops serially, as parallel_members does. Does not allocate.
template <class Function> void parallel_ranges(std::size_t n, std::size_t grain, Function&& function) {
  run_ranges(n, grain, function_view<std::size_t, std::size_t>(function));
}

/// Calls `function(i)` for i = 0..n-1; divides the indices as parallel_ranges does.
template <class Function> void parallel_indices(std::size_t n, std::size_t grain, const Function& function) {
  parallel_ranges(n, grain, [&function](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i != end; ++i) function(i);
  });
}

}  // namespace devplace::detail
