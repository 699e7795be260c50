// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#include <devplace/ops/detail/product_arguments.hpp>

namespace devplace::test {

/// An element of a product, and the sum of absolute values of its summands, to which rounding errors are proportional.
struct exact_element {
  double value = 0, magnitude = 0;
};

/// Oracle: returns element (i, j) of the result of `g`, by definition and in double, if C had the contents `c`.
template <class T, class Result>
exact_element product_element(const detail::gemm_arguments<T, Result>& g, const Result* c, std::size_t i,
                              std::size_t j) {
  exact_element x;
  const auto add = [&x](double summand) { x.value += summand, x.magnitude += std::abs(summand); };
  const double alpha = g.alpha, beta = g.beta;
  for (std::size_t p = 0; p < g.k; ++p)
    add(static_cast<double>(g.transpose_a ? g.a[p * g.lda + i] : g.a[i * g.lda + p]) *
        static_cast<double>(g.transpose_b ? g.b[j * g.ldb + p] : g.b[p * g.ldb + j]));
  x = alpha == 0 ? exact_element{} : exact_element{alpha * x.value, std::abs(alpha) * x.magnitude};
  if (beta != 0) add(beta * static_cast<double>(c[i * g.ldc + j]));
  if (g.bias != nullptr) add(static_cast<double>(g.bias[j]));
  if (g.epilogue == detail::epilogue::relu && x.value < 0) x.value = 0;
  return x;
}

// Slow without optimisation, so that product_element.cpp contains these instances.
extern template exact_element product_element(const detail::gemm_arguments<float, float>&, const float*, std::size_t,
                                              std::size_t);
extern template exact_element product_element(const detail::gemm_arguments<double, double>&, const double*, std::size_t,
                                              std::size_t);
extern template exact_element product_element(const detail::gemm_arguments<bf16, bf16>&, const bf16*, std::size_t,
                                              std::size_t);
extern template exact_element product_element(const detail::gemm_arguments<bf16, float>&, const float*, std::size_t,
                                              std::size_t);
extern template exact_element product_element(const detail::gemm_arguments<half, half>&, const half*, std::size_t,
                                              std::size_t);
extern template exact_element product_element(const detail::gemm_arguments<half, float>&, const float*, std::size_t,
                                              std::size_t);

}  // namespace devplace::test
