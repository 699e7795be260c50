// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// The function applied to each element of a matrix product, after the bias is added.
enum class epilogue : unsigned char { none, relu };

/// Precision of a matrix product's multiplications: the element type's, or TF32, to which float operands are rounded.
/// Only CUDA devices have TF32; elsewhere tf32 means the element type's precision.
enum class product_math : unsigned char { strict, tf32 };

/// C = epilogue(alpha op(A) op(B) + beta C + bias), all matrices row-major. A, B and bias have elements T; C has
/// elements `Result`: T or, for bf16 and half, float. Sums, alpha and beta are computed_t<T>.
/// op(A) is m x k: A[i * lda + p], or A[p * lda + i] with transpose_a;
/// op(B) is k x n: B[p * ldb + j], or B[j * ldb + p] with transpose_b;
/// C[i * ldc + j] is m x n and overlaps neither A, B nor bias; bias has length n or is null.
/// beta == 0: C is not read. alpha == 0 or k == 0: A and B are not read; the product counts as zero.
/// NaN passes through relu (x < 0 ? 0 : x). Pointers need only the alignment of their elements.
template <class T, class Result = T> struct gemm_arguments {
  using factor_type = computed_t<T>;
  std::size_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  factor_type alpha = 1;
  const T* a = nullptr;
  std::size_t lda = 0;
  const T* b = nullptr;
  std::size_t ldb = 0;
  factor_type beta = 0;
  Result* c = nullptr;
  std::size_t ldc = 0;
  const T* bias = nullptr;
  detail::epilogue epilogue = detail::epilogue::none;
  product_math math = product_math::strict;
};

/// `count` products: the first product, and the distances in elements between consecutive matrices; 0 if all products
/// read the same matrix. All products have the same bias.
template <class T, class Result = T> struct gemm_batch {
  gemm_arguments<T, Result> first;
  std::size_t count = 1, stride_a = 0, stride_b = 0, stride_c = 0;

  constexpr gemm_arguments<T, Result> operator[](std::size_t k) const {
    gemm_arguments<T, Result> g = first;
    g.a += k * stride_a;
    g.b += k * stride_b;
    g.c += k * stride_c;
    return g;
  }
};

/// to = 0 where y <= 0, else dy (also where y is NaN), all contiguous [rows, columns]; `to` may be `dy`. sums = column
/// sums of `to` + beta sums; with beta 0, sums is not read. Unless `outputs` is 0, the product of `dy` [rows, outputs]
/// and `weight` [outputs, columns] is in place of dy; `to` is then neither of them.
template <class T, class Sum = T> struct relu_gradient_arguments {
  std::size_t rows, columns;
  T* to;
  const T* dy;
  const T* y;
  Sum* sums;
  Sum beta;
  const T* weight = nullptr;
  std::size_t outputs = 0;
};

/// The rows and columns of C that one thread of the team computes.
struct gemm_range {
  std::size_t row_begin, row_end, column_begin, column_end;
};

/// Finishes one element x = alpha op(A) op(B) + beta C: adds the bias and applies the epilogue.
template <class T, class Result>
constexpr computed_t<T> gemm_finish(const gemm_arguments<T, Result>& g, computed_t<T> x, std::size_t column) {
  if (g.bias != nullptr) x += g.bias[column];
  return g.epilogue == epilogue::relu && x < 0 ? 0 : x;
}

/// C = epilogue(beta C + bias): the complete product if k or alpha is zero.
template <class T, class Result> void gemm_without_product(const gemm_arguments<T, Result>& g) {
  for (std::size_t i = 0; i < g.m; ++i) {
    Result* const row = g.c + i * g.ldc;
    for (std::size_t j = 0; j < g.n; ++j) row[j] = Result(gemm_finish(g, g.beta == 0 ? 0 : g.beta * row[j], j));
  }
}

}  // namespace devplace::detail
