// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
#include <devplace/place/detail/parallel_for.hpp>

// Of 16 registers: 12 accumulators of 32 bytes, 2 vectors of B and one broadcast element of A.
namespace devplace::detail::gemm_avx2 {

inline constexpr std::size_t vector_bytes = 32;  // of a register tile
inline constexpr std::size_t pack_bytes = 32;    // of a transposed block
inline constexpr std::size_t tile_rows = 6;

#define DEVPLACE_GEMM_TARGET __attribute__((target("avx2,fma")))
#include <devplace/backend/cpu/detail/gemm_lanes_body.hpp>

#include <devplace/backend/cpu/detail/gemm_kernel_body.hpp>
#undef DEVPLACE_GEMM_TARGET

}  // namespace devplace::detail::gemm_avx2
