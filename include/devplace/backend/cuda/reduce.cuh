// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/reduce.hpp>
#include <devplace/backend/cuda/launch.cuh>
#include <devplace/ops/detail/reduction_plan.hpp>

namespace devplace {

/// Without atomics and workspace: the bits depend on the shape alone.
template <>
struct implementation<backend::cuda, op::reduce> {
  template <class Source, class Reducer>
  static void run(int ordinal, const detail::reduction_plan<Source, Reducer>& plan) {
    const std::size_t results = plan.outer * plan.inner;
    if (plan.count <= 1024)
      detail::launch(ordinal, results, detail::reduce_kernel<64, Source, Reducer>{plan});
    else
      detail::launch(ordinal, results, detail::reduce_kernel<1024, Source, Reducer>{plan});
  }
};

}  // namespace devplace
