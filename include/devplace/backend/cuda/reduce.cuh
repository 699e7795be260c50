// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/reduce.hpp>
#include <devplace/backend/cuda/launch.cuh>
#include <devplace/backend/cuda/scratch.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

namespace devplace {

/// One launch. The bits depend on the shape alone: no number is added by an atomic operation.
template <>
struct implementation<backend::cuda, op::reduce> {
  template <class Source, class Reducer>
  static void run(int ordinal, const detail::reduction_plan<Source, Reducer>& plan) {
    constexpr bool reduces_all = requires {
      Reducer::reduces_all;
    };
    if (reduces_all || plan.inner == 1)
      launch(ordinal, detail::make_reduce_kernel<true>(plan));
    else if constexpr (!reduces_all)
      launch(ordinal, detail::make_reduce_kernel<false>(plan));
  }

 private:
  template <class Kernel>
  static void launch(int ordinal, Kernel kernel) {
    using accumulator = typename Kernel::accumulator;
    static_assert(sizeof(accumulator) <= 16 && alignof(accumulator) <= 16);
    if (kernel.layout.chunks > 1) {
      char* const scratch = static_cast<char*>(detail::cuda_scratch_of(ordinal));
      kernel.tickets = reinterpret_cast<unsigned*>(scratch);
      kernel.partials = reinterpret_cast<accumulator*>(scratch + detail::cuda_ticket_bytes);
    }
    detail::launch(ordinal, kernel.layout.blocks(), kernel);
  }
};

template <>
struct implementation<backend::cuda, op::prepare_reduce> {
  static void run(int ordinal) { detail::cuda_scratch_of(ordinal); }
};

}  // namespace devplace
