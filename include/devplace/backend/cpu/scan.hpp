// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/ops/detail/scan_plan.hpp>
#include <devplace/place/backend.hpp>

namespace devplace {

template <> struct implementation<backend::cpu, op::scan> {
  template <class T, bool Rows> static void run(int, const detail::scan_plan<T, false, Rows>& plan) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < plan.size; ++i)
      plan.y[i] = sum = detail::elementary::plus{}(sum, static_cast<std::int64_t>(plan.x[i]));
  }
};

}  // namespace devplace
