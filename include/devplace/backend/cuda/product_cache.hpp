// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include <devplace/backend/cuda/planning.hpp>
#include <devplace/backend/cuda/product_plan.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/backend/cuda/workspace.hpp>

namespace devplace::detail {

/// The cuBLASLt handle of one place and its plans of products. Plans are kept because every step computes the same few
/// products. A call holds the mutex because it modifies the plan (the epilogue's vector). Operations of several kernels
/// that share a stream's workspace also hold the mutex, so that no other thread enqueues kernels in between.
struct product_cache {
  /// For comparison: a network of 20 linear layers has 60 products per batch size.
  static constexpr std::size_t capacity = 512;

  std::mutex mutex;
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
  const std::lock_guard lock(cache.mutex);
  product_plan& plan = cache.plan_of(key, vector, ordinal);
  if (plan.status != CUBLAS_STATUS_SUCCESS) return false;
  if (only_plans()) return true;
  set_product_vector(plan, vector, ordinal, key);
  const cublasStatus_t status =
      cublasLtMatmul(cache.handle, plan.operation.get(), &g.alpha, g.b, plan.first.get(), g.a, plan.second.get(),
                     &g.beta, g.c, plan.result.get(), g.c, plan.result.get(), &plan.algorithm, workspace,
                     cuda_product_workspace::bytes, device.stream());
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) [[unlikely]] {  // although the heuristic had returned the algorithm
    plan.status = status;
    report_product(plan, key, ordinal);
    return false;
  }
  check_cublaslt(status, "cublasLtMatmul", ordinal, key);
  after_launch(device, ordinal, "a product of cuBLASLt");
  return true;
}

}  // namespace devplace::detail
