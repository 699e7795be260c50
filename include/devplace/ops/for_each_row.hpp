// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/for_each.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::detail {

/// A functor of rows of `columns` elements; `Columns` is their number, or dyn.
template <class F, std::size_t Columns = dyn> struct row_functor {
  F f;
  std::size_t columns;

  /// The functor for backends whose code does not depend on the static number of columns.
  const F& of_any_columns() const { return f; }
};

/// Runs `f(row)`, an index_functor that works on `columns` elements, for every row below `rows`. Devices that need
/// several threads per row have an overload of `by_group` for `f` (backend/cuda/kernels/rows_kernel.hpp). `Columns`,
/// unless dyn, is the value of `columns`: only the kernel for this length is compiled.
template <class Backend, std::size_t Columns = dyn, index_functor F>
void for_each_row(int ordinal, std::size_t rows, std::size_t columns, std::size_t grain, const F& f) {
  if (rows != 0) dispatch<op::for_each, Backend>(ordinal, rows, grain, row_functor<F, Columns>{f, columns});
}

}  // namespace devplace::detail
