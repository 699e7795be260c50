// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/backend/cpu/detail/gemm_builtin.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/product_arguments.hpp>

#include DEVPLACE_CBLAS_ENGINE

namespace devplace::detail {

struct gemm_cblas;

/// The engine of this translation unit; an argument of templates, whose bodies differ with and without a CBLAS.
using default_engine = std::conditional_t<configuration::matrix == matrix_library::cblas, gemm_cblas, gemm_builtin>;

/// Computes C = epilogue(alpha op(A) op(B) + beta C + bias) on this thread's team; see gemm_arguments. Products of bf16
/// and half use the built-in engine, because CBLAS has no such products.
template <class Engine = default_engine, class T, class Result> void gemm(const gemm_arguments<T, Result>& arguments) {
  if constexpr (half_precision_element<T>) {
    gemm_builtin::run(arguments);
  } else {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                  "devplace: matrix products on the CPU exist for float, double, bf16 and half. Convert the tensors "
                  "first.");
    Engine::run(arguments);
  }
}

/// Allocates the engine's memory on every thread of this thread's team, so that later products do not allocate.
template <class Engine = default_engine> void gemm_prepare() { Engine::prepare(); }

}  // namespace devplace::detail
