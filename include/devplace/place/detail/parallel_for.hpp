// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/place/detail/function_view.hpp>
#include <devplace/place/thread_team.hpp>

namespace devplace::detail {

/// The loops below for any function, compiled once.
inline void run_members(int parts, function_view<int> function) {
  if (parts <= 0) return;
  const team_reference& team = current_team();
  first_exception errors;
  const auto task = [&function, &errors](int part) noexcept {
    const chosen_team_guard serial(serial_team_reference);
    try {
      function(part);
    } catch (...) {
      errors.capture(part);
    }
  };
  if (parts == 1) {
    task(0);
  } else {
    team.run_parts(team.team, parts, team_task(task));
  }
  errors.rethrow();
}

/// Begin of part `part` when `count` things are dealt to `parts` parts whose sizes differ by one at most.
constexpr std::size_t part_begin(std::size_t count, std::size_t parts, std::size_t part) noexcept {
  const std::size_t rest = count % parts;
  return part * (count / parts) + (part < rest ? part : rest);
}

inline void run_ranges(std::size_t n, std::size_t grain, function_view<std::size_t, std::size_t> function) {
  if (n == 0) return;
  if (grain == 0) grain = 1;
  if (n / grain < 2) {
    function(std::size_t{0}, n);
    return;
  }
  const std::size_t members = static_cast<std::size_t>(thread_count());
  const std::size_t most = n / grain;
  const std::size_t parts = members < most ? members : most;
  if (parts <= 1) {
    function(std::size_t{0}, n);
    return;
  }
  const std::size_t grains = most + (n % grain != 0 ? 1 : 0);
  const auto part_of = [&](int part) {
    const auto index = static_cast<std::size_t>(part);
    const std::size_t begin = part_begin(grains, parts, index) * grain;
    const std::size_t end = part_begin(grains, parts, index + 1) * grain;
    function(begin, end < n ? end : n);
  };
  run_members(static_cast<int>(parts), function_view<int>(part_of));
}

/// Calls `function(part)` for parts 0..parts-1, part i on member i of this thread's team. What the function calls in
/// turn runs serially. Returns when all are done; then the exception of the lowest part that threw is rethrown.
/// Requires parts <= thread_count(). Allocates nothing.
template <class Function>
void parallel_members(int parts, Function&& function) {
  run_members(parts, function_view<int>(function));
}

/// Calls `function(begin, end)` over contiguous ranges that cover 0..n-1 once, one range per member of this thread's
/// team. Range ends are multiples of `grain` (or n), and no range is dealt out with less than `grain` indices; below
/// 2 * grain the call is inline. The split depends on n, grain and the team's size alone. Exceptions and nesting as in
/// parallel_members. Allocates nothing.
template <class Function>
void parallel_for(std::size_t n, std::size_t grain, Function&& function) {
  run_ranges(n, grain, function_view<std::size_t, std::size_t>(function));
}

}  // namespace devplace::detail
