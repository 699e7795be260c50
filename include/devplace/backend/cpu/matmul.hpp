// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cpu/gemm.hpp>
#include <devplace/ops/matmul.hpp>

namespace devplace {

template <>
struct implementation<backend::cpu, op::matmul> {
  /// The engine is a template argument as the body differs between translation units with and without a CBLAS.
  template <class T, class Engine = detail::default_engine>
  static void run(int, const detail::gemm_arguments<T>& arguments) {
    detail::gemm(arguments);
  }
};

}  // namespace devplace
