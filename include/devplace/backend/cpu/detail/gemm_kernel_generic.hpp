// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
#include <devplace/place/detail/parallel_for.hpp>

// 8 accumulators of 16 bytes, 2 vectors of B and one broadcast element of A fit into the 16 registers of x86-64 and the
// 32 of NEON. No target attribute: compiled for the target of the compiler's command line.
namespace devplace::detail::gemm_generic {

inline constexpr std::size_t vector_bytes = 16;  // of a register tile
inline constexpr std::size_t pack_bytes = 16;    // of a transposed block
inline constexpr std::size_t tile_rows = 4;

#define DEVPLACE_GEMM_TARGET
#include <devplace/backend/cpu/detail/gemm_lanes_body.hpp>

#include <devplace/backend/cpu/detail/gemm_kernel_body.hpp>
#undef DEVPLACE_GEMM_TARGET

}  // namespace devplace::detail::gemm_generic
