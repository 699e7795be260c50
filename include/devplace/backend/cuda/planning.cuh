// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/ops/planning.hpp>

namespace devplace {

template <> struct implementation<backend::cuda, op::planning> {
  struct scope {
    scope() { detail::only_plans() = true; }
    scope& operator=(scope&&) = delete;
    ~scope() { detail::only_plans() = false; }
  };
};

}  // namespace devplace
