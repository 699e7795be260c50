// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

#include <devplace/backend/cpu/gemm.hpp>

namespace devplace {

/// The engine of the CPU's matrix products.
struct matrix_engine_info {
  /// Engine and processor kernels: "built-in amx", "built-in avx512_bf16", "built-in avx512", "built-in avx2",
  /// "built-in generic", "cblas OpenBLAS 0.3.21 SkylakeX"; amx and avx512_bf16 differ from avx512 in products of bf16.
  /// A library that misdetects the processor is 2 to 7 times slower than it could be, so check the name before
  /// comparing speeds. The text exists until the program ends.
  std::string_view name;
};

}  // namespace devplace

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The engine of this file's CPU matrix products: the built-in one, or the CBLAS library if component `cblas` is
/// linked. The built-in engine uses the processor's highest instruction set; the environment variable DEVPLACE_CPU_ISA
/// (generic, avx2, avx512, avx512_bf16 or amx) selects a lower one. Throws argument_error if this variable has another
/// value, or names an instruction set that the processor does not support.
inline matrix_engine_info matrix_engine() { return {detail::default_engine::name()}; }

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
