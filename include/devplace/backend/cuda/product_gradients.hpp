// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/kernels/relu_gradient.hpp>
#include <devplace/backend/cuda/product.hpp>
#include <devplace/ops/detail/product_arguments.hpp>

namespace devplace::detail {

/// Computes the product `g`, which is C = dY^T X + beta C (`g.a` is dY), and sums = column sums of dY + beta sums. If
/// beta is 0, cuBLASLt's epilogue computes the sums along with the product; the epilogue cannot add to existing sums.
template <class T, class C, class Launch>
void multiply_with_sums(int ordinal, const gemm_arguments<T, C>& g, C* sums, const Launch& launch) {
  const bool for_library = g.m > 1 && g.n > 1 && g.k > 1 && g.beta == 0;
  if (for_library && multiply_by_library(ordinal, gemm_batch<T, C>{g}, library_epilogue::row_sums, sums)) return;
  multiply(ordinal, g, launch);
  sum_columns<matrix_source, T>(ordinal, g.k, g.m, has_wide_rows<widest_access<T>>(g.a, g.lda),
                                sum_result<C, C, T>{sums, 1, 1, g.beta}, launch, g.a, g.lda);
}

/// Makes one pass over the gradient. A product with few outputs reads and writes less here than in a launch of its own.
template <class T, class Sum, class Launch>
void relu_gradient(int ordinal, const relu_gradient_arguments<T, Sum>& g, const Launch& launch) {
  constexpr unsigned wide = widest_access<T>;
  const bool aligned = has_wide_rows<wide>(g.to, wide) && has_wide_rows<wide>(g.y, wide) &&
                       has_wide_rows<wide>(g.outputs == 0 ? g.dy : g.weight, wide);
  sum_columns<relu_gradient_source, T>(ordinal, g.rows, g.columns, aligned,
                                       sum_result<Sum, Sum, T>{g.sums, 1, 1, g.beta}, launch, g.to, g.dy, g.y,
                                       g.columns, g.weight, g.outputs);
}

}  // namespace devplace::detail
