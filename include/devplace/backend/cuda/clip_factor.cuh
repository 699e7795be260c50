// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/reduce.cuh>
#include <devplace/runtime/clip_factor.hpp>

namespace devplace {

/// Launches one kernel; its last block computes the factor from the sum.
template <> struct implementation<backend::cuda, op::clip_factor> {
  template <class T> static void run(int ordinal, const runtime::gradient_squares<T>& g) {
    using plan = detail::reduction_plan<runtime::square_source<T>, runtime::gradient_squares<T>>;
    implementation<backend::cuda, op::reduce>::run(ordinal, plan{1, g.n, 1, {g.gradients, g.integers}, g});
  }
};

}  // namespace devplace
