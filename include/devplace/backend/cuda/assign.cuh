// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/assign.hpp>
#include <devplace/backend/cuda/launch.cuh>
#include <devplace/ops/detail/assign_body.hpp>
#include <devplace/place/backend.hpp>

namespace devplace {

template <>
struct implementation<backend::cuda, op::assign> {
  template <class Body>
  static void run(int ordinal, std::size_t n, const Body& body) {
    const auto kernel = detail::make_assign_kernel(n, body);
    detail::launch(ordinal, kernel.blocks(), kernel);
  }
};

}  // namespace devplace
