// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/product_element.hpp"

namespace devplace::test {

template exact_element product_element(const detail::gemm_arguments<float, float>&, const float*, std::size_t,
                                       std::size_t);
template exact_element product_element(const detail::gemm_arguments<double, double>&, const double*, std::size_t,
                                       std::size_t);
template exact_element product_element(const detail::gemm_arguments<bf16, bf16>&, const bf16*, std::size_t,
                                       std::size_t);
template exact_element product_element(const detail::gemm_arguments<bf16, float>&, const float*, std::size_t,
                                       std::size_t);
template exact_element product_element(const detail::gemm_arguments<half, half>&, const half*, std::size_t,
                                       std::size_t);
template exact_element product_element(const detail::gemm_arguments<half, float>&, const float*, std::size_t,
                                       std::size_t);

}  // namespace devplace::test
