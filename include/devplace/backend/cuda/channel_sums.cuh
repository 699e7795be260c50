// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/kernels/channel_sums.hpp>
#include <devplace/ops/detail/channel_sums.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

namespace devplace {

template <> struct implementation<backend::cuda, op::channel_sums> {
  template <class Terms> static void run(int ordinal, const detail::channel_plan<Terms>& plan) {
    if (plan.shape.extent == 1)
      detail::reduce<backend::cuda>(ordinal, detail::channel_reduction<true>(plan.shape, plan.terms));
    else
      detail::reduce<backend::cuda>(ordinal, detail::channel_reduction<false>(plan.shape, plan.terms));
  }
};

}  // namespace devplace
