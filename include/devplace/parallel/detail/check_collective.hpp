// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include <devplace/base/error.hpp>

namespace devplace::parallel::detail {

// Checks of a collective's arguments; all throw argument_error.

/// Requires one buffer for each place of this process.
inline void check_buffers(std::size_t buffers, std::size_t places) {
  if (buffers != places)
    throw argument_error("collective: " + std::to_string(buffers) + " buffers were given for " +
                         std::to_string(places) + " places of this process; give one for each.");
}

/// Requires ascending boundaries of the participants' parts.
inline void check_boundaries(std::span<const std::size_t> begins, std::size_t participants) {
  if (begins.size() != participants + 1 || !std::is_sorted(begins.begin(), begins.end()))
    throw argument_error(
        "collective: the boundaries of the parts must be ascending numbers, one more than there are participants in "
        "all processes; the part of rank r is [begins[r], begins[r + 1]).");
}

/// Requires that `root` is a rank.
inline void check_root(int root, std::size_t participants) {
  if (root < 0 || static_cast<std::size_t>(root) >= participants)
    throw argument_error("collective: the root is rank " + std::to_string(root) + "; give one from 0 to " +
                         std::to_string(participants - 1) + ".");
}

/// Requires an unused mark of each participant of this process for a start.
inline void check_marked(bool marked) {
  if (!marked)
    throw argument_error(
        "communicator: a collective was started before mark_ready(k) was called for every participant of this "
        "process; each start needs a mark of each of them.");
}

}  // namespace devplace::parallel::detail
