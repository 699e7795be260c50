// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/for_each.hpp>
#include <devplace/ops/detail/assign_body.hpp>

namespace devplace {

template <>
struct implementation<backend::cpu, op::assign> {
  template <class Body>
  static void run(int ordinal, std::size_t n, const Body& body) {
    implementation<backend::cpu, op::for_each>::run(ordinal, n, detail::elementwise_grain, body);
  }
};

}  // namespace devplace
