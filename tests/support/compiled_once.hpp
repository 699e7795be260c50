// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cpu/detail/convolution_kernels.hpp>
#include <devplace/backend/cpu/detail/gemm_builtin.hpp>

#include "support/product_element.hpp"

// Templates that are expensive to instantiate. The kernels of matrix products and convolutions for three instruction
// sets would cost each file with a layer more compile time than most of its tests; the oracle of these kernels is slow
// without optimisation. All test files are precompiled with this header; compiled_once.cpp and, for convolutions,
// compiled_once_convolutions.cpp contain the instantiations.
namespace devplace::detail {

extern template gemm_kernels<float> gemm_kernels_of(cpu_isa);
extern template gemm_kernels<double> gemm_kernels_of(cpu_isa);
extern template convolution_kernels<float> convolution_kernels_of(cpu_isa);
extern template convolution_kernels<double> convolution_kernels_of(cpu_isa);
extern template convolution_kernels<bf16> convolution_kernels_of(cpu_isa);
extern template convolution_kernels<half> convolution_kernels_of(cpu_isa);

}  // namespace devplace::detail

namespace devplace::test {

using detail::gemm_arguments;
extern template exact_element product_element(const gemm_arguments<float>&, const float*, std::size_t, std::size_t);
extern template exact_element product_element(const gemm_arguments<double>&, const double*, std::size_t, std::size_t);
extern template exact_element product_element(const gemm_arguments<bf16, bf16>&, const bf16*, std::size_t, std::size_t);
extern template exact_element product_element(const gemm_arguments<bf16, float>&, const float*, std::size_t,
                                              std::size_t);
extern template exact_element product_element(const gemm_arguments<half, half>&, const half*, std::size_t, std::size_t);
extern template exact_element product_element(const gemm_arguments<half, float>&, const float*, std::size_t,
                                              std::size_t);

}  // namespace devplace::test
