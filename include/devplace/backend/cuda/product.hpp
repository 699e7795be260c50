// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cublasLt.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <type_traits>

#include <devplace/backend/cuda/kernels/product.hpp>
#include <devplace/backend/cuda/product_plan.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/backend/cuda/workspace.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// The cuBLASLt handle of one place and its plans of products. Plans are kept because every step computes the same few
/// products. Guarded by sequence_mutex_of(), because a call modifies the plan (the epilogue's vector).
struct product_cache {
  /// For comparison: a network of 20 linear layers has 60 products per batch size.
  static constexpr std::size_t capacity = 512;

  cublasLtHandle_t handle = nullptr;
  std::map<product_key, product_plan> plans;
  std::uint64_t uses = 0;

  /// Returns the plan of a product (see find_or_make).
  product_plan& plan_of(const product_key& key, const void* vector, int ordinal) {
    product_plan& plan = find_or_make(plans, capacity, key, [&] {
      if (handle == nullptr) check_cublaslt(cublasLtCreate(&handle), "cublasLtCreate", ordinal, key);
      return make_product_plan(handle, key, vector, ordinal);
    });
    plan.last_use = ++uses;
    return plan;
  }
};

inline product_cache& product_cache_of(int ordinal) { return of_place<product_cache>(ordinal); }

/// Throws if rows are 2^31 bytes or more apart: cuBLAS up to and including 13.1 then computes wrong results.
inline void require_library_strides(const product_key& key) {
  const std::uint64_t limit = (std::uint64_t{1} << 31) / key.result->bytes;  // the operands' elements are no larger
  if (key.lda < limit && key.ldb < limit && key.ldc < limit) return;
  throw shape_error(to_string(key).append(
      ": cuBLASLt computes wrong results if rows are 2^31 bytes or more apart; split the matrix along its columns, or "
      "store it transposed."));
}

/// The arguments of a product: C = alpha op(A) op(B) + beta C.
struct product_call {
  product_key key;
  const void *a, *b, *vector;
  void *c, *workspace;
  double alpha, beta;  ///< in their first bytes numbers of the compute type

  template <class T, class C>
  product_call(const product_key& k, const gemm_arguments<T, C>& g, const void* v, void* room)
      : key(k), a(g.a), b(g.b), vector(v), c(g.c), workspace(room), alpha(0), beta(0) {
    std::memcpy(&alpha, &g.alpha, sizeof g.alpha);
    std::memcpy(&beta, &g.beta, sizeof g.beta);
  }

  /// Enqueues the product, which has a plan; the thread holds the mutex.
  cublasStatus_t enqueue(product_cache& cache, product_plan& plan, int ordinal, cudaStream_t stream) const {
    set_product_vector(plan, vector, ordinal, key);
    return cublasLtMatmul(cache.handle, native(plan.operation), &alpha, b, native(plan.first), a, native(plan.second),
                          &beta, c, native(plan.result), c, native(plan.result), &plan.algorithm, workspace,
                          cuda_product_workspace::bytes, stream);
  }
  /// Enqueues the product, whose plan cuBLASLt has executed before.
  void operator()(int ordinal, cudaStream_t stream) const {
    product_cache& cache = product_cache_of(ordinal);
    const cublasStatus_t status = enqueue(cache, cache.plan_of(key, vector, ordinal), ordinal, stream);
    check_cublaslt(status, "cublasLtMatmul", ordinal, key);
  }
};

/// Computes C = alpha op(A) op(B) + beta C by cuBLASLt, in one call for all products of a batch, for any alpha and
/// beta. The epilogue's vector is `vector`; the products' bias and activation are ignored. Enqueues on the place's
/// current stream. Returns false, with nothing enqueued, if cuBLASLt has no algorithm for the products.
template <class T, class C>
bool multiply_by_library(int ordinal, const gemm_batch<T, C>& batch, library_epilogue epilogue, const void* vector) {
  const gemm_arguments<T, C>& g = batch.first;
  if (batch.count > INT32_MAX) return false;
  const product_key key = make_product_key(batch, epilogue, vector);
  require_library_strides(key);
  const cuda_scope device(ordinal);
  void* const workspace = cuda_workspace<cuda_product_workspace>(ordinal, device);
  product_cache& cache = product_cache_of(ordinal);
  const operation_lock lock(ordinal);
  product_plan& plan = cache.plan_of(key, vector, ordinal);
  if (plan.status != CUBLAS_STATUS_SUCCESS) return false;
  if (only_plans()) return true;
  const char* const name = "a product of cuBLASLt";
  const product_call call(key, g, vector, workspace);
  if (plan.computes && collecting_launches() != nullptr) {
    device.enqueue(name, call);
    return true;
  }
  const cublasStatus_t status = call.enqueue(cache, plan, ordinal, device.stream());
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) [[unlikely]] {  // although the heuristic had returned the algorithm
    plan.status = status;
    report_product(plan, key, ordinal);
    return false;
  }
  check_cublaslt(status, "cublasLtMatmul", ordinal, key);
  plan.computes = true;
  device.after_launch(name);
  return true;
}

// Chooses the kernels of a product. `launch(blocks, kernel)` enqueues a kernel on the place's stream.

/// Returns whether rows that begin at `data` with leading dimension `ld` can be read `Width` elements at a time.
template <unsigned Width, class T> bool has_wide_rows(const T* data, std::size_t ld) {
  return ld % Width == 0 && reinterpret_cast<std::uintptr_t>(data) % (Width * sizeof(T)) == 0;
}

/// Computes C = epilogue(beta C + bias).
template <class T, class C> void finish_product(const gemm_arguments<T, C>& g, computed_t<T> beta, const auto& launch) {
  constexpr unsigned wide = std::min(widest_access<T>, widest_access<C>);
  const auto with_width = [&](auto kernel) { launch(kernel.blocks(), kernel); };
  const bool wide_rows = g.n % wide == 0 && has_wide_rows<wide>(g.c, g.ldc) && has_wide_rows<wide>(g.bias, wide);
  if (wide_rows)
    with_width(finish_kernel<C, wide, T>{g.m, g.n, g.ldc, g.c, beta, g.bias, g.epilogue});
  else
    with_width(finish_kernel<C, 1, T>{g.m, g.n, g.ldc, g.c, beta, g.bias, g.epilogue});
}

/// Sums columns in one launch, using `Source<T, Width>` with the widest accesses that `aligned` allows.
template <template <class, unsigned> class Source, class T, class Sum, class Out, class Launch, class... Members>
void sum_columns(int ordinal, std::size_t rows, std::size_t columns, bool aligned,
                 const sum_result<Sum, Out, T>& result, const Launch& launch, const Members&... members) {
  constexpr unsigned wide = widest_access<T>;
  static_assert(most_strips * 32 * wide * sizeof(Sum) <= cuda_reduction_workspace::value_bytes);
  const auto partials = cuda_partial_results<Sum>(ordinal);
  const auto with = [&](const auto& source) { launch_column_sums(source, rows, columns, result, partials, launch); };
  if (aligned && columns % wide == 0)
    with(Source<T, wide>{members...});
  else
    with(Source<T, 1>{members...});
}

/// Computes a product with one row or one column, a matrix-vector product, for which cuBLASLt has no algorithm.
template <class T, class C> void multiply_vector(int ordinal, const gemm_arguments<T, C>& g, const auto& launch) {
  const bool one_column = g.n == 1;
  const std::size_t count = one_column ? g.m : g.n;
  const T* const matrix = one_column ? g.a : g.b;
  const std::size_t ld = one_column ? g.lda : g.ldb;
  const T* const vector = one_column ? g.b : g.a;
  const bool vector_is_row = one_column ? g.transpose_b : !g.transpose_a;
  const std::size_t stride = vector_is_row ? 1 : one_column ? g.ldb : g.lda;
  using result_type = sum_result<computed_t<T>, C, T>;
  const result_type result{
      g.c, one_column ? g.ldc : 1, g.alpha, g.beta, g.bias, one_column ? std::size_t{0} : std::size_t{1}, g.epilogue};
  const bool sums_rows = one_column ? !g.transpose_a : g.transpose_b;
  const auto launch_rows = [&](const auto& kernel) { launch(kernel.blocks(), kernel); };
  if (!sums_rows)
    sum_columns<weighted_rows_source, T>(ordinal, g.k, count, has_wide_rows<widest_access<T>>(matrix, ld), result,
                                         launch, matrix, ld, vector, stride);
  else if (count < 256 && g.k >= 4096)
    launch_rows(row_products_kernel<T, 256, result_type>{count, g.k, matrix, ld, vector, stride, result});
  else
    launch_rows(row_products_kernel<T, 32, result_type>{count, g.k, matrix, ld, vector, stride, result});
}

template <class T, class C, class Launch>
void multiply_without_library(int ordinal, const gemm_arguments<T, C>& g, const Launch& launch) {
  if (g.k == 0 || g.alpha == 0) return finish_product(g, g.beta, launch);
  if (g.k != 1 && (g.m == 1 || g.n == 1)) return multiply_vector(ordinal, g, launch);
  const any_product_kernel<T, C> kernel{g};
  launch(kernel.blocks(), kernel);
}

/// Computes the products by cuBLASLt, without the activation. Returns false, with nothing computed, if cuBLASLt has no
/// algorithm. Sets `with_bias` to whether the bias was added.
template <class T, class C> bool multiply_by_library(int ordinal, const gemm_batch<T, C>& batch, bool& with_bias) {
  const gemm_arguments<T, C>& g = batch.first;
  if (g.m == 1 || g.n == 1 || g.k <= 1 || g.alpha == 0) return false;
  // A 16-bit result is rounded once, after its bias is added. cuBLASLt reads biases of the result's type.
  if constexpr (std::is_same_v<T, C>)
    with_bias = g.bias != nullptr && (g.epilogue == epilogue::none || half_precision_element<C>) &&
                multiply_by_library(ordinal, batch, library_epilogue::bias, g.bias);
  return with_bias || multiply_by_library(ordinal, batch, library_epilogue::none, nullptr);
}

/// Computes C = epilogue(alpha op(A) op(B) + beta C + bias) for each product. cuBLASLt adds the bias if there is no
/// relu or results have 16 bits; otherwise finish_kernel adds the bias. finish_kernel also applies relu.
template <class T, class C> void multiply(int ordinal, const gemm_batch<T, C>& batch, const auto& launch) {
  const gemm_arguments<T, C>& g = batch.first;
  if (g.m == 0 || g.n == 0) return;
  bool with_bias = false;
  if (!multiply_by_library(ordinal, batch, with_bias)) {
    for (std::size_t k = 0; k != batch.count; ++k) multiply_without_library(ordinal, batch[k], launch);
  } else if ((!with_bias && g.bias != nullptr) || g.epilogue != epilogue::none) {
    gemm_batch<T, C> rest = batch;
    if (with_bias) rest.first.bias = nullptr;
    if (batch.stride_c == g.m * g.ldc) rest.first.m *= rest.count, rest.count = 1;  // rows of one matrix
    for (std::size_t k = 0; k != rest.count; ++k) finish_product(rest[k], computed_t<T>{1}, launch);
  }
}
template <class T, class C> void multiply(int ordinal, const gemm_arguments<T, C>& g, const auto& launch) {
  multiply(ordinal, gemm_batch<T, C>{g}, launch);
}

}  // namespace devplace::detail
