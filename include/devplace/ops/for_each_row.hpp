// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/for_each.hpp>
#include <devplace/place/backend.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, rows, columns, grain, f)`: f(row) for every row below `rows`, in any order and concurrently.
struct for_each_row {};

}  // namespace op

namespace detail {

/// Runs `f(row)`, an index_functor that works on `columns` elements, for every row below `rows`. Devices on which one
/// thread for a row is too little have an overload of `by_group` for `f` (backend/cuda/kernels/rows.hpp).
template <class Backend, index_functor F>
void for_each_row(int ordinal, std::size_t rows, std::size_t columns, std::size_t grain, const F& f) {
  if (rows != 0) dispatch<op::for_each_row, Backend>(ordinal, rows, columns, grain, f);
}

}  // namespace detail
}  // namespace devplace

#include <devplace/backend/cpu/for_each_row.hpp>
#include DEVPLACE_CUDA_BACKEND(for_each_row)
