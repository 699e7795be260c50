// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/for_each.hpp>
#include <devplace/ops/random.hpp>

namespace devplace {

template <>
struct implementation<backend::cpu, op::random_fill> {
  template <class Body>
  static void run(int ordinal, std::size_t n, const Body& body) {
    implementation<backend::cpu, op::for_each>::run(ordinal, Body::indices(n), Body::grain, body);
  }
};

template <>
struct implementation<backend::cpu, op::dropout> {
  template <class Body>
  static void run(int ordinal, std::size_t n, const Body& body) {
    implementation<backend::cpu, op::for_each>::run(ordinal, n, detail::random_grain, body);
  }
};

}  // namespace devplace
