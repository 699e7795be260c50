// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <devplace/backend/cuda/planning.hpp>
#include <devplace/backend/cuda/product_plan.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/backend/cuda/workspace.hpp>

namespace devplace::detail {

/// The cuBLASLt handle of one place and its plans of products. Plans are kept because every step computes the same few
/// products. Guarded by sequence_mutex_of(), because a call modifies the plan (the epilogue's vector).
struct product_cache {
  /// For comparison: a network of 20 linear layers has 60 products per batch size.
  static constexpr std::size_t capacity = 512;

  cublasLtHandle_t handle = nullptr;
  std::map<product_key, product_plan> plans;
  std::uint64_t uses = 0;

  /// Returns the plan of a product, made at its first use. Replaces the least recently used plan if the cache is full.
  /// Does not allocate if the plan exists.
  product_plan& plan_of(const product_key& key, const void* vector, int ordinal) {
    auto found = plans.find(key);
    if (found == plans.end()) {
      if (handle == nullptr) check_cublaslt(cublasLtCreate(&handle), "cublasLtCreate", ordinal, key);
      product_plan plan = make_product_plan(handle, key, vector, ordinal);
      if (plans.size() == capacity) erase_oldest(plans);
      found = plans.emplace(key, std::move(plan)).first;
    }
    found->second.last_use = ++uses;
    return found->second;
  }
};

/// Returns the cache of a place. Never destroyed, because CUDA may shut down before static objects are destroyed.
inline product_cache& product_cache_of(int ordinal) {
  static auto& caches = *new std::array<product_cache, counted_ordinals>;
  return caches[static_cast<std::size_t>(ordinal)];
}

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
    return cublasLtMatmul(cache.handle, plan.operation.get(), &alpha, b, plan.first.get(), a, plan.second.get(), &beta,
                          c, plan.result.get(), c, plan.result.get(), &plan.algorithm, workspace,
                          cuda_product_workspace::bytes, stream);
  }
};

/// Enqueues a product_call whose plan cuBLASLt has executed before.
inline void multiply_again(const void* arguments, int ordinal, cudaStream_t stream) {
  const auto& call = *static_cast<const product_call*>(arguments);
  product_cache& cache = product_cache_of(ordinal);
  const cublasStatus_t status = call.enqueue(cache, cache.plan_of(call.key, call.vector, ordinal), ordinal, stream);
  check_cublaslt(status, "cublasLtMatmul", ordinal, call.key);
}

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
  const std::lock_guard lock(sequence_mutex_of(ordinal));
  product_plan& plan = cache.plan_of(key, vector, ordinal);
  if (plan.status != CUBLAS_STATUS_SUCCESS) return false;
  if (only_plans()) return true;
  const char* const name = "a product of cuBLASLt";
  product_call call(key, g, vector, workspace);
  if (plan.computes && collecting_launches() != nullptr) {
    clear_padding(call);
    device.enqueue(multiply_again, name, &call, sizeof call);
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

}  // namespace devplace::detail
