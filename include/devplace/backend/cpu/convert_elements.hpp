// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/backend/cpu/detail/cpu_isa.hpp>
#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/config.hpp>
#include <devplace/tensor/dtype.hpp>

// Conversions of arrays of bf16 and half, compiled for each instruction set like the code of instruction_sets.hpp.
DEVPLACE_HOST_PRAGMAS_BEGIN
namespace devplace::detail {

#define DEVPLACE_BODY <devplace/backend/cpu/detail/convert_elements_body.hpp>
#include <devplace/backend/cpu/detail/each_instruction_set_body.hpp>

/// Converts `count` elements; one type is a 16-bit type and the other is float.
template <class To, class From>
[[gnu::noinline]] void convert_elements(To* to, const From* from, std::size_t count, cpu_isa isa = current_isa()) {
#if defined(__x86_64__)
  if (isa >= cpu_isa::avx512) return avx512::convert_array(to, from, count);
  if (isa >= cpu_isa::avx2) return avx2::convert_array(to, from, count);
#endif
  static_cast<void>(isa);
  generic::convert_array(to, from, count);
}

}  // namespace devplace::detail
DEVPLACE_HOST_PRAGMAS_END
