// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#include <devplace/ops/detail/product_arguments.hpp>

namespace devplace::test {

/// Oracle: returns element (i, j) of the result of `g`, by definition and in double, if C had the contents `c`.
/// `magnitude` receives the sum of absolute values of the summands, to which rounding errors are proportional.
template <class T, class Result>
double product_element(const detail::gemm_arguments<T, Result>& g, const Result* c, std::size_t i, std::size_t j,
                       double& magnitude) {
  double sum = 0, absolute = 0;
  for (std::size_t p = 0; p < g.k; ++p) {
    const double product = static_cast<double>(g.transpose_a ? g.a[p * g.lda + i] : g.a[i * g.lda + p]) *
                           static_cast<double>(g.transpose_b ? g.b[j * g.ldb + p] : g.b[p * g.ldb + j]);
    sum += product;
    absolute += std::abs(product);
  }
  const double alpha = g.alpha, beta = g.beta;
  double x = g.alpha == 0 ? 0 : alpha * sum;
  magnitude = std::abs(alpha) * absolute;
  if (g.beta != 0) {
    x += beta * static_cast<double>(c[i * g.ldc + j]);
    magnitude += std::abs(beta * static_cast<double>(c[i * g.ldc + j]));
  }
  if (g.bias != nullptr) {
    x += static_cast<double>(g.bias[j]);
    magnitude += std::abs(static_cast<double>(g.bias[j]));
  }
  return g.epilogue == detail::epilogue::relu && x < 0 ? 0 : x;
}

}  // namespace devplace::test
