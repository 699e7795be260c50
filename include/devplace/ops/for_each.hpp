// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/place/backend.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, n, grain, f)`: f(i) for every i below n, in any order, at the same time.
struct for_each {};

}  // namespace op

namespace detail {

/// A body that runs once per index, written once for every backend: a trivially copyable struct of pointers and
/// numbers whose const `operator()(std::size_t)` is marked DEVPLACE_HD. Its template arguments are element types,
/// functors and integers only, never a model's or a placement's type (nvcc cannot take some of those in kernels).
template <class F>
concept index_functor = std::is_trivially_copyable_v<F> && requires(const F& f, std::size_t i) {
  f(i);
};

/// Runs `f(i)` for every i below `n` on a backend's device, in the order of that device's work. `grain` is the number
/// of indices that is worth a thread of its own on the CPU. A functor that also has `range(begin, end)` is asked for
/// whole ranges there.
template <class Backend, index_functor F>
void for_each_index(int ordinal, std::size_t n, std::size_t grain, const F& f) {
  if (n != 0) dispatch<op::for_each, Backend>(ordinal, n, grain, f);
}

}  // namespace detail
}  // namespace devplace

#include <devplace/backend/cpu/for_each.hpp>
#include DEVPLACE_CUDA_BACKEND(for_each)
