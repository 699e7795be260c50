// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cpu/detail/gemm_builtin.hpp>

// The kernels of matrix products, for three instruction sets, cost each file that has a layer more than most of its
// tests. All test files are precompiled with this header, and compiled_once.cpp has what it declares.
namespace devplace::detail {

extern template gemm_kernels<float> gemm_kernels_of(cpu_isa);
extern template gemm_kernels<double> gemm_kernels_of(cpu_isa);

}  // namespace devplace::detail
