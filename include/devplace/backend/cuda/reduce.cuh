// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/reduce.hpp>
#include <devplace/backend/cuda/workspace.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

namespace devplace {

/// Reduces in one launch. The bits depend only on the shape: no sum is accumulated with atomic operations.
template <> struct implementation<backend::cuda, op::reduce> {
  template <class Source, class Reducer>
  static void run(int ordinal, const detail::reduction_plan<Source, Reducer>& plan) {
    constexpr bool only_along = detail::reduces_only_along<Source, Reducer>;
    const auto launch = [ordinal](auto kernel) {
      if (kernel.layout.chunks > 1) {
        const auto partials = detail::cuda_partial_results<typename Reducer::accumulator>(ordinal);
        kernel.partials = partials.values;
        kernel.tickets = partials.tickets;
      }
      detail::kernel_launch{ordinal}(kernel.layout.blocks(), kernel);
    };
    if (only_along || plan.inner == 1)
      detail::with_reduce_kernel<true>(plan, launch);
    else if constexpr (!only_along)
      detail::with_reduce_kernel<false>(plan, launch);
  }
};

}  // namespace devplace
