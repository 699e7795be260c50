// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <devplace/base/error.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/take_rows.hpp>
#include <devplace/place/backend.hpp>

namespace devplace {

namespace detail {

DEVPLACE_COMPILABLE([[noreturn]]) void throw_no_such_row(std::int64_t index, std::size_t position, std::size_t rows) {
  throw argument_error({"take_rows: index ", index, " at position ", position,
                        " names no row of the operand, which has ", rows,
                        "; indices count from 0, and none is negative."});
}
DEVPLACE_COMPILED(void throw_no_such_row(std::int64_t, std::size_t, std::size_t))

}  // namespace detail

template <> struct implementation<backend::cpu, op::take_rows> {
  template <class T, class Index> static void run(int, const detail::row_taker<T, Index>& take) {
    for (std::size_t i = 0; i < take.count; ++i)
      if (!take.exists(i)) detail::throw_no_such_row(static_cast<std::int64_t>(take.indices[i]), i, take.rows);
    const std::size_t grain = 1 + 16384 / (take.columns + 1);
    detail::parallel_indices(take.count, grain, [&take](std::size_t i) {
      if (take.skips(i)) return;
      std::copy_n(take.from + take.source(i) * take.columns, take.columns, take.to + i * take.columns);
    });
  }
};

}  // namespace devplace
