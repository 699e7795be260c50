// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/place/backend.hpp>

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

}  // namespace devplace::detail

#include <devplace/backend/cpu/for_each.hpp>
#include DEVPLACE_BACKENDS(for_each)
