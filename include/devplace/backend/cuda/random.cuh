// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/random.hpp>
#include <devplace/backend/cuda/launch.cuh>
#include <devplace/ops/random.hpp>

namespace devplace {

template <>
struct implementation<backend::cuda, op::random_fill> {
  template <class Body>
  static void run(int ordinal, std::size_t n, const Body& body) {
    const auto kernel = detail::make_random_kernel(n, body);
    detail::launch(ordinal, (kernel.rounds() + kernel.threads - 1) / kernel.threads, kernel);
  }
};

template <>
struct implementation<backend::cuda, op::dropout> {
  template <class T>
  static void run(int ordinal, std::size_t n, const detail::dropout_body<T>& body) {
    const auto kernel = detail::make_dropout_kernel(n, body);
    detail::launch(ordinal, (kernel.groups() + kernel.threads - 1) / kernel.threads, kernel);
  }
};

}  // namespace devplace
