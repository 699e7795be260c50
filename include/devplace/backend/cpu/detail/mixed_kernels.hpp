// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <devplace/backend/cpu/convert_elements.hpp>
#include <devplace/backend/cpu/detail/cpu_isa.hpp>
#include <devplace/backend/cpu/detail/instruction_sets.hpp>
#include <devplace/backend/cpu/detail/mixed_product.hpp>
#include <devplace/base/divided_up.hpp>  // for the included bodies
#include <devplace/config.hpp>
#include <devplace/tensor/dtype.hpp>

// Products of bf16 and half, compiled for each instruction set like the code of instruction_sets.hpp.
DEVPLACE_HOST_PRAGMAS_BEGIN
namespace devplace::detail {

#define DEVPLACE_BODY <devplace/backend/cpu/detail/mixed_kernel_body.hpp>
#include <devplace/backend/cpu/detail/each_instruction_set_body.hpp>

#if defined(__x86_64__)

namespace avx512_bf16 {

  #include <devplace/backend/cpu/detail/bf16_kernel_body.hpp>

}  // namespace avx512_bf16

namespace amx {

  #include <devplace/backend/cpu/detail/amx_kernel_body.hpp>

}  // namespace amx

#endif

/// The functions and tile sizes of 16-bit products for one instruction set.
template <class T, class Result> struct mixed_kernels {
  void (*multiply_range)(const gemm_arguments<T, Result>&, const gemm_range&, void* buffer);
  void (*dot_range)(const gemm_arguments<T, Result>&, const gemm_range&);
  std::size_t tile_rows, tile_columns;
};

template <class Kernel, class T, class Result>
mixed_kernels<T, Result> mixed_kernels_with(void (*dot_range)(const gemm_arguments<T, Result>&, const gemm_range&)) {
  return {mixed_product<Kernel, T, Result>::run, dot_range, Kernel::rows, Kernel::columns};
}

template <class T, class Result> mixed_kernels<T, Result> mixed_kernels_of(cpu_isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case cpu_isa::amx:
      if constexpr (std::is_same_v<T, bf16>)
        return mixed_kernels_with<amx::tile_kernel<>>(avx512::mixed_dot_range<T, Result>);
      [[fallthrough]];
    case cpu_isa::avx512_bf16:
      if constexpr (std::is_same_v<T, bf16>)
        return mixed_kernels_with<avx512_bf16::dot_kernel>(avx512::mixed_dot_range<T, Result>);
      [[fallthrough]];
    case cpu_isa::avx512:
      return mixed_kernels_with<avx512::float_kernel>(avx512::mixed_dot_range<T, Result>);
    case cpu_isa::avx2:
      return mixed_kernels_with<avx2::float_kernel>(avx2::mixed_dot_range<T, Result>);
#endif
    default:
      return mixed_kernels_with<generic::float_kernel>(generic::mixed_dot_range<T, Result>);
  }
}
DEVPLACE_COMPILED(mixed_kernels<bf16, bf16> mixed_kernels_of(cpu_isa))
DEVPLACE_COMPILED(mixed_kernels<bf16, float> mixed_kernels_of(cpu_isa))
DEVPLACE_COMPILED(mixed_kernels<half, half> mixed_kernels_of(cpu_isa))
DEVPLACE_COMPILED(mixed_kernels<half, float> mixed_kernels_of(cpu_isa))

}  // namespace devplace::detail
DEVPLACE_HOST_PRAGMAS_END
