// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <devplace/parallel/detail/ranks.hpp>

namespace devplace::parallel::detail {

/// The sizes and displacements of the processes' parts of a window, as arguments of MPI.
struct mpi_counts {
  explicit mpi_counts(std::size_t processes) : sizes(processes), displacements(processes) {}

  /// Divides the window [first, last) among the processes; the elements of process p begin at begins[p * places].
  /// Returns the elements of process `own` in the window.
  element_range divide(std::span<const std::size_t> begins, std::size_t places, std::size_t first, std::size_t last,
                       std::size_t own) {
    const auto at = [&](std::size_t process) { return std::clamp(begins[process * places], first, last); };
    for (std::size_t p = 0; p != sizes.size(); ++p) {
      sizes[p] = static_cast<int>(at(p + 1) - at(p));
      displacements[p] = static_cast<int>(at(p) - first);
    }
    return {at(own), at(own + 1)};
  }

  std::vector<int> sizes, displacements;
};

}  // namespace devplace::parallel::detail
