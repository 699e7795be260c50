// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include <devplace/backend/cpu/detail/gemm_arguments.hpp>
#include <devplace/backend/cuda/cublas.hpp>
#include <devplace/backend/cuda/for_each.cuh>
#include <devplace/ops/matmul.hpp>

namespace devplace {

namespace detail {

inline cublasStatus_t cublas_gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
                                  std::int64_t n, std::int64_t k, const float* alpha, const float* a, std::int64_t lda,
                                  const float* b, std::int64_t ldb, const float* beta, float* c, std::int64_t ldc) {
  return cublasSgemm_64(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline cublasStatus_t cublas_gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
                                  std::int64_t n, std::int64_t k, const double* alpha, const double* a,
                                  std::int64_t lda, const double* b, std::int64_t ldb, const double* beta, double* c,
                                  std::int64_t ldc) {
  return cublasDgemm_64(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/// C = then(beta C + bias), one element for each index: what follows a product, or stands alone where k is 0.
template <class T>
struct gemm_epilogue {
  T* c;
  std::size_t n, ldc;
  T beta;
  const T* bias;
  epilogue then;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t column = i % n;
    T& element = c[i / n * ldc + column];
    T x = beta == T{0} ? T{0} : beta * element;
    if (bias != nullptr) x += bias[column];
    element = then == epilogue::relu && x < T{0} ? T{0} : x;
  }
};

}  // namespace detail

template <>
struct implementation<backend::cuda, op::matmul> {
  template <class T>
  static void run(int ordinal, const detail::gemm_arguments<T>& g) {
    if (g.m == 0 || g.n == 0) return;
    T beta_left = g.beta;
    if (g.k != 0 && g.alpha != T{0}) {
      multiply(ordinal, g);
      if (g.bias == nullptr && g.then == detail::epilogue::none) return;
      beta_left = T{1};
    }
    const detail::gemm_epilogue<T> finish{g.c, g.n, g.ldc, beta_left, g.bias, g.then};
    implementation<backend::cuda, op::for_each>::run(ordinal, g.m * g.n, 0, finish);
  }

 private:
  /// A row-major matrix is its transpose in cuBLAS's column-major order, so that C = A B becomes C^T = B^T A^T without
  /// moving anything.
  template <class T>
  static void multiply(int ordinal, const detail::gemm_arguments<T>& g) {
    const detail::cuda_scope current(ordinal);
    detail::cublas_device& cublas = detail::cublas_of(ordinal, current);
    const std::lock_guard lock(cublas.mutex);
    const auto transposed = [](bool yes) { return yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
    detail::check_cublas(
        detail::cublas_gemm(cublas.handle, transposed(g.transpose_b), transposed(g.transpose_a), size(g.n), size(g.m),
                            size(g.k), &g.alpha, g.b, size(g.ldb), g.a, size(g.lda), &g.beta, g.c, size(g.ldc)),
        "cublas gemm", ordinal);
  }

  static std::int64_t size(std::size_t value) { return static_cast<std::int64_t>(value); }
};

}  // namespace devplace
