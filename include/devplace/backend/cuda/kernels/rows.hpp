// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/backend/cuda/kernels/row_values.hpp>
#include <devplace/ops/for_each_row.hpp>

namespace devplace::detail {

// Kernels for functors of rows (ops/for_each_row.hpp). A functor that runs on a GPU has an overload
//
//   by_group(functor, access, group, row, exists)
//
// in kernels/<operation>.hpp: the threads of `group` process row number `row` and get its elements from
// access.values(). If `exists` is false, there is no such row, but these threads still take part in the group's
// operations, which involve all lanes of a warp; for the same reason these operations must not stand in a branch that
// depends on the row.

/// Rows of at most PerThread * Group::size elements.
template <unsigned PerThread>
struct access_in_registers {
  template <class T, class Group>
  DEVPLACE_DEVICE static auto values(const Group& group, const T* row, std::size_t columns) {
    return row_in_registers<T, Group, PerThread>(group, row, columns);
  }
};

/// Rows of any length.
struct access_in_memory {
  template <class T, class Group>
  DEVPLACE_DEVICE static auto values(const Group& group, const T* row, std::size_t columns) {
    return row_in_memory<T, Group>(group, row, columns);
  }
};

/// `Lanes` threads per row of at most Lanes * PerThread elements.
template <class Row, unsigned Lanes, unsigned PerThread>
struct short_rows_kernel {
  static constexpr unsigned threads = 256;
  static constexpr unsigned rows_per_block = threads / Lanes;

  std::size_t rows;
  Row functor;

  template <class Thread>
  DEVPLACE_DEVICE void operator()(Thread& t) const {
    const lane_group<Thread, Lanes> group(t);
    const std::size_t stride = std::size_t{t.grid_size()} * rows_per_block;
    for (std::size_t first = std::size_t{t.block_index()} * rows_per_block; first < rows; first += stride) {
      const std::size_t row = first + t.thread_index() / Lanes;
      by_group(functor, access_in_registers<PerThread>{}, group, row, row < rows);
    }
  }
};

/// One block per row.
template <class Row, unsigned Threads>
struct long_rows_kernel {
  static constexpr unsigned threads = Threads;

  std::size_t rows;
  Row functor;

  template <class Thread>
  DEVPLACE_DEVICE void operator()(Thread& t) const {
    const block_group<Thread, Threads> group(t);
    for (std::size_t row = t.block_index(); row < rows; row += t.grid_size())
      by_group(functor, access_in_memory{}, group, row, true);
  }
};

/// The kernel depends on the length of the rows. Short rows are held in registers, so they
/// are read once: 4 lanes for up to 16 elements, a warp for up to 1,024. Longer rows get a block each and are read once
/// per pass.
template <class Row, class Launch>
void with_kernel(std::size_t rows, const row_functor<Row>& of_rows, const Launch& launch) {
  const std::size_t columns = of_rows.columns;
  const Row& functor = of_rows.f;
  const auto launch_short = [&](const auto& kernel) {
    launch((rows + kernel.rows_per_block - 1) / kernel.rows_per_block, kernel);
  };
  if (columns <= 16)
    launch_short(short_rows_kernel<Row, 4, 4>{rows, functor});
  else if (columns <= 128)
    launch_short(short_rows_kernel<Row, 32, 4>{rows, functor});
  else if (columns <= 1024)
    launch_short(short_rows_kernel<Row, 32, 32>{rows, functor});
  else
    launch(rows, long_rows_kernel<Row, 1024>{rows, functor});
}

}  // namespace devplace::detail
