// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/compiled_once.hpp"

namespace devplace::detail {

template gemm_kernels<float> gemm_kernels_of(cpu_isa);
template gemm_kernels<double> gemm_kernels_of(cpu_isa);

}  // namespace devplace::detail

namespace devplace::test {

template exact_element product_element(const gemm_arguments<float>&, const float*, std::size_t, std::size_t);
template exact_element product_element(const gemm_arguments<double>&, const double*, std::size_t, std::size_t);
template exact_element product_element(const gemm_arguments<bf16, bf16>&, const bf16*, std::size_t, std::size_t);
template exact_element product_element(const gemm_arguments<bf16, float>&, const float*, std::size_t, std::size_t);
template exact_element product_element(const gemm_arguments<half, half>&, const half*, std::size_t, std::size_t);
template exact_element product_element(const gemm_arguments<half, float>&, const float*, std::size_t, std::size_t);

}  // namespace devplace::test
