// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/ops/permutation.hpp>

namespace devplace {

template <> struct implementation<backend::cpu, op::permutation> {
  static void run(int, const detail::permutation_plan& plan) {
    detail::random_order::run(plan.order, plan.size, plan.random, plan.workspace);
  }
};

}  // namespace devplace
