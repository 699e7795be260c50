// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::detail {

/// Adapts a functor of rows of `columns` elements to for_each; `Columns` is their number, or dyn. If F::computes_much,
/// the CPU runs it with the processor's best instruction set, which costs compile time.
template <class F, std::size_t Columns = dyn> struct row_functor {
  static constexpr bool computes_much = requires { F::computes_much; };

  F f;
  std::size_t columns;

  /// The functor for backends whose code does not depend on the static number of columns.
  row_functor<F> of_any_columns() const
    requires(Columns != dyn)
  {
    return {f, columns};
  }

  void operator()(std::size_t row) const { f(row); }

  void range(std::size_t begin, std::size_t end) const
    requires(computes_much)
  {
    if constexpr (requires { f.range(begin, end); }) return f.range(begin, end);
    one_by_one(begin, end);
  }
  void one_by_one(std::size_t begin, std::size_t end) const {
    for (std::size_t row = begin; row != end; ++row) f(row);
  }
};

/// Runs `f(row)`, an index_functor that works on `columns` elements, for every row below `rows`. Devices that need
/// several threads per row have an overload of `by_group` for `f` (backend/cuda/kernels/rows_kernel.hpp). `Columns`,
/// unless dyn, is the value of `columns`: only the kernel for this length is compiled.
template <class Backend, std::size_t Columns = dyn, index_functor F>
void for_each_row(int ordinal, std::size_t rows, std::size_t columns, std::size_t grain, const F& f) {
  for_each_index<Backend>(ordinal, rows, grain, row_functor<F, Columns>{f, columns});
}

}  // namespace devplace::detail
