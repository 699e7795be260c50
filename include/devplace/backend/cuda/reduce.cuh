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
    if (only_along || plan.inner == 1)
      detail::with_reduce_kernel<true>(plan, launcher{ordinal});
    else if constexpr (!only_along)
      detail::with_reduce_kernel<false>(plan, launcher{ordinal});
  }

 private:
  static char* workspace_of(int ordinal) {
    const detail::cuda_scope device(ordinal);
    return static_cast<char*>(detail::cuda_workspace<detail::cuda_reduction_workspace>(ordinal, device));
  }

  struct launcher {
    int ordinal;

    template <class Kernel> void operator()(Kernel kernel) const {
      using accumulator = typename Kernel::accumulator;
      static_assert(sizeof(accumulator) <= 16 && alignof(accumulator) <= 16);
      if (kernel.layout.chunks > 1) {
        char* const workspace = workspace_of(ordinal);
        kernel.tickets = reinterpret_cast<unsigned*>(workspace);
        kernel.partials = reinterpret_cast<accumulator*>(workspace + detail::cuda_reduction_workspace::ticket_bytes);
      }
      detail::kernel_launch{ordinal}(kernel.layout.blocks(), kernel);
    }
  };
};

}  // namespace devplace
