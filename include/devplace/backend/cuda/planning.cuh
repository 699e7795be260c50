// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/backend/cuda/workspace.hpp>
#include <devplace/ops/planning.hpp>

namespace devplace {

template <> struct implementation<backend::cuda, op::planning> {
  struct scope {
    scope() { detail::only_plans() = true; }
    scope& operator=(scope&&) = delete;
    ~scope() { detail::only_plans() = false; }
  };
};

template <> struct implementation<backend::cuda, op::workspaces> {
  static void run(int ordinal) {
    const detail::cuda_scope device(ordinal);
    detail::cuda_workspace<detail::cuda_product_workspace>(ordinal, device);
    detail::cuda_workspace<detail::cuda_reduction_workspace>(ordinal, device);
  }
};

}  // namespace devplace
