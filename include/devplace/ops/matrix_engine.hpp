// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

#include <devplace/backend/cpu/gemm.hpp>

namespace devplace {

/// What multiplies matrices on the CPU.
struct matrix_engine_info {
  /// Engine and processor kernels in words: "built-in avx512", "built-in avx2", "built-in generic", "cblas OpenBLAS
  /// 0.3.21 SkylakeX". A library that misjudges the processor is 2 to 7 times slower than it could be, so look at it
  /// before comparing speeds. Valid until the program ends.
  std::string_view name;
};

/// The engine that this file's CPU matrix products use: the built-in one, or the CBLAS library where component
/// `cblas` is linked. The built-in engine takes the best instruction set that the processor has; the environment
/// variable DEVPLACE_CPU_ISA (generic, avx2 or avx512) makes it take a lesser one. Throws argument_error if that
/// variable has another value or asks for more than the processor has.
template <class Engine = detail::default_engine>
matrix_engine_info matrix_engine() {
  return {Engine::name()};
}

}  // namespace devplace
