// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/for_each_row.hpp>

namespace devplace {

template <>
struct implementation<backend::cpu, op::for_each_row> {
  template <class F>
  static void run(int ordinal, std::size_t rows, std::size_t, std::size_t grain, const F& f) {
    implementation<backend::cpu, op::for_each>::run(ordinal, rows, grain, f);
  }
};

}  // namespace devplace
