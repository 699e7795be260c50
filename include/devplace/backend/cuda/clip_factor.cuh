// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/reduce.cuh>
#include <devplace/runtime/clip_factor.hpp>

namespace devplace {

/// Launches one kernel; its last block computes the factor from the sum. Leaves the workspace's tickets (counters of
/// finished blocks) at 0.
template <> struct implementation<backend::cuda, op::clip_factor> {
  template <class T> static void run(int ordinal, const runtime::clip_numbers<T>& c) {
    using source = detail::element_source<T>;
    using reducer = runtime::clip_reducer<T>;
    implementation<backend::cuda, op::reduce>::run(
        ordinal, detail::reduction_plan<source, reducer>{1, c.n, 1, {c.gradients}, reducer{c.result}});
  }
};

}  // namespace devplace
