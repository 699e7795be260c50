// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace::detail {

/// Adapts a functor of rows of `columns` elements to for_each. If F::computes_much, the CPU runs it with the
/// processor's best instruction set, which costs compile time.
template <class F> struct row_functor {
  static constexpr bool computes_much = requires { F::computes_much; };

  F f;
  std::size_t columns;

  void operator()(std::size_t row) const { f(row); }

  void range(std::size_t begin, std::size_t end) const
    requires(computes_much)
  {
    for (std::size_t row = begin; row != end; ++row) f(row);
  }
};

/// Runs `f(row)`, an index_functor that works on `columns` elements, for every row below `rows`. Devices that need
/// several threads per row have an overload of `by_group` for `f` (backend/cuda/kernels/rows_kernel.hpp).
template <class Backend, index_functor F>
void for_each_row(int ordinal, std::size_t rows, std::size_t columns, std::size_t grain, const F& f) {
  for_each_index<Backend>(ordinal, rows, grain, row_functor<F>{f, columns});
}

}  // namespace devplace::detail
