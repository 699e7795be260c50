// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/parallel_ranges.hpp>
#include <devplace/ops/detail/product_arguments.hpp>

namespace devplace::detail {

/// A grid of threads over the rows and columns of C.
struct gemm_split {
  std::size_t rows = 1, columns = 1;
};

/// Convolutions and products of a CBLAS with fewer multiplications per thread (about five microseconds) run on one
/// thread. Forking costs less than a microsecond on idle cores, but up to a scheduler's time slice on cores that other
/// programs keep busy.
inline constexpr std::size_t gemm_least_work = 256 * 1024;

/// Returns the minimum number of tasks per thread, if each task takes `work` multiplications.
constexpr std::size_t tasks_per_thread(std::size_t work) { return 1 + gemm_least_work / (work + 1); }

/// This limit for the built-in engine, which is faster: a thread has at least about two microseconds of work.
template <class T> inline constexpr std::size_t builtin_least_work = 512 * 1024 / sizeof(T);

/// Returns the grid of at most `members` threads for an m x n x k product in tiles of tile_rows x tile_columns. Each
/// thread packs its own rows of A and columns of B; the best grid minimises the slowest thread's multiplications and
/// packing. `vector_work` is the number of multiplications that take as long as packing one element. If the team is
/// `awake`, each access to an element also counts as two multiplications, because accesses dominate products with few
/// rows or summands. Each thread then finds its part of the weights in its own cache in the next product and in the
/// update.
inline gemm_split split_product(std::size_t m, std::size_t n, std::size_t k, std::size_t tile_rows,
                                std::size_t tile_columns, std::size_t members, std::size_t vector_work,
                                bool awake = false, std::size_t least_work = gemm_least_work) {
  const std::size_t accesses = awake ? 2 * (m * k + k * n + m * n) : 0;
  members = smaller(members, (m * n * k + accesses) / least_work);
  if (members <= 1) return {};
  const std::size_t tiles_m = divided_up(m, tile_rows), tiles_n = divided_up(n, tile_columns);
  gemm_split best;
  std::size_t least = ~std::size_t{0};
  for (std::size_t rows = 1; rows <= members && rows <= tiles_m; ++rows) {
    const std::size_t columns = smaller(members / rows, tiles_n);
    const std::size_t mine_m = divided_up(tiles_m, rows) * tile_rows;
    const std::size_t mine_n = divided_up(tiles_n, columns) * tile_columns;
    const std::size_t cost = mine_m * mine_n + (mine_m + mine_n) * vector_work;
    if (cost < least) {
      least = cost;
      best = {rows, columns};
    }
  }
  return best;
}

/// Calls compute(range) on each thread of a grid, with the thread's part of C in whole tiles.
template <class Compute>
void for_each_part(std::size_t m, std::size_t n, std::size_t tile_rows, std::size_t tile_columns,
                   const gemm_split& split, const Compute& compute) {
  const std::size_t parts = split.rows * split.columns;
  if (parts == 1) return compute(gemm_range{0, m, 0, n});
  const std::size_t tiles_m = divided_up(m, tile_rows), tiles_n = divided_up(n, tile_columns);
  parallel_members(static_cast<int>(parts), [&](int member) {
    const std::size_t i = static_cast<std::size_t>(member) / split.columns,
                      j = static_cast<std::size_t>(member) % split.columns;
    compute(gemm_range{smaller(part_begin(tiles_m, split.rows, i) * tile_rows, m),
                       smaller(part_begin(tiles_m, split.rows, i + 1) * tile_rows, m),
                       smaller(part_begin(tiles_n, split.columns, j) * tile_columns, n),
                       smaller(part_begin(tiles_n, split.columns, j + 1) * tile_columns, n)});
  });
}

}  // namespace devplace::detail
