// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/backend/cuda/kernels/row_values.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/ops/for_each_row.hpp>

namespace devplace::detail {

// Kernels for functors of rows (ops/for_each_row.hpp). A functor that runs on a GPU has an overload
//
//   by_group(functor, access, group, row, exists)
//
// in <operation>.cuh. The threads of `group` process row number `row`. They get its elements from
// access.values(), together with elements of other rows, and write results by write(). If `exists` is false, there is
// no such row, but these threads still take part in the group's operations, which involve all lanes of a warp. For this
// reason, group operations must not stand in a branch that depends on the row.

/// Gives each row of at most Lanes * PerThread elements (PerThread 0: any length) `Lanes` threads of a warp or a block.
template <class Row, unsigned Lanes, unsigned PerThread> struct rows_kernel {
  static constexpr unsigned threads = Lanes < 128 ? 128 : Lanes;
  static constexpr unsigned rows_per_block = threads / Lanes;

  std::size_t rows;
  Row functor;

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const thread_group<Thread, Lanes> group(t);
    const std::size_t stride = std::size_t{t.grid_size()} * rows_per_block;
    for (std::size_t first = std::size_t{t.block_index()} * rows_per_block; first < rows; first += stride) {
      const std::size_t row = rows_per_block == 1 ? first : first + t.thread_index() / Lanes;
      by_group(functor, row_access<PerThread>{}, group, row, rows_per_block == 1 || row < rows);
    }
  }
};

/// Calls `launch` with a kernel that depends on the length of the rows. Short rows are held in registers and read once:
/// 4 lanes for up to 16 elements, 16 lanes for up to 128 and a warp for up to 1,024. Longer rows get a block each and
/// are read once per pass. If the length is static, only its kernel is compiled.
template <class Row, std::size_t Columns, class Launch>
void with_kernel(std::size_t rows, const row_functor<Row, Columns>& of_rows, const Launch& launch) {
  const std::size_t columns = of_rows.columns;
  const Row& functor = of_rows.f;
  const auto with = [&](const auto& kernel) { launch(divided_up(rows, kernel.rows_per_block), kernel); };
  constexpr auto possible = [](std::size_t least, std::size_t most) {
    return Columns == dyn || (least <= Columns && Columns <= most);
  };
  if constexpr (possible(0, 16))
    if (columns <= 16) return with(rows_kernel<Row, 4, 4>{rows, functor});
  if constexpr (possible(17, 128))
    if (columns <= 128) return with(rows_kernel<Row, 16, 8>{rows, functor});
  if constexpr (possible(129, 1024))
    if (columns <= 1024) return with(rows_kernel<Row, 32, 32>{rows, functor});
  if constexpr (possible(1025, dyn)) with(rows_kernel<Row, 512, 0>{rows, functor});
}

}  // namespace devplace::detail
