// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::op {

/// `run(ordinal, n, grain, f)`: calls f(i) for every i below n, in any order and concurrently.
struct for_each {};

}  // namespace devplace::op

namespace devplace::detail {

/// Functors with range(begin, end), which the CPU calls instead of the functor for each index.
template <class F>
concept range_functor = requires(const F& f, std::size_t i) { f.range(i, i); };

/// A body that runs once per index, written once for all backends. It is a trivially copyable struct of pointers and
/// numbers whose const `operator()(std::size_t)` is marked DEVPLACE_HD. Its template arguments are only element types,
/// functors and integers, never a model's or a placement's type, because nvcc rejects some of these types in kernels.
template <class F>
concept index_functor =
    std::is_trivially_copyable_v<F> && (range_functor<F> || requires(const F& f, std::size_t i) { f(i); });

/// An index_functor without effect.
struct no_operation {
  DEVPLACE_HD constexpr void operator()(std::size_t) const {}
};

/// Runs `f(i)` for every i below `n` on a backend's device, in the order of its current stream. `grain` is the number
/// of indices that justify a thread on the CPU.
template <class Backend, index_functor F>
void for_each_index(int ordinal, std::size_t n, std::size_t grain, const F& f) {
  if (n != 0) dispatch<op::for_each, Backend>(ordinal, n, grain, f);
}

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

#include <devplace/backend/cpu/for_each.hpp>
#include DEVPLACE_BACKENDS(for_each)
