// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/backend/cuda/kernels/rows_kernel.hpp>

#include "support/simt/emulator.hpp"

namespace devplace::test::simt {

/// Row lengths on both sides of every kernel's limits and of every access width.
inline constexpr std::array<std::size_t, 13> row_lengths{1, 2, 5, 10, 16, 17, 32, 100, 128, 129, 1024, 1501, 9000};

/// Returns reproducible numbers between -8 and 8.
inline std::vector<float> logits(std::size_t count, std::uint32_t seed = 1) {
  std::vector<float> result(count);
  std::uint32_t state = seed * 2654435761u + 1;
  for (float& x : result) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(state >> 8) / static_cast<float>(1 << 20) - 8;
  }
  return result;
}

/// Runs a functor of rows with the kernel that a GPU would use, in fewer blocks than rows require. Returns how many
/// bytes the threads read by vector accesses.
template <class Row> std::size_t launch_rows(std::size_t rows, std::size_t columns, const Row& row) {
  std::size_t loaded_bytes = 0;
  detail::with_kernel(rows, detail::row_functor<Row>{row, columns},
                      [&](std::size_t, const auto& kernel) { loaded_bytes = launch(2, kernel, 1); });
  return loaded_bytes;
}

}  // namespace devplace::test::simt
