// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <devplace/backend/cuda/product_key.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/backend/cuda/workspace.hpp>
#include <devplace/memory/stream.hpp>

namespace devplace::detail {

inline std::string cublaslt_status_text(cublasStatus_t status) {
  return joined({cublasLtGetStatusString(status), " (", static_cast<int>(status), ")"});
}

/// Throws the exception for a failed cuBLASLt call on behalf of the product `operation`; device_lost if the device is
/// lost.
DEVPLACE_COMPILABLE([[noreturn]])
void throw_cublaslt_error(cublasStatus_t status, const char* call, int ordinal, const std::string& operation) {
  throw_if_device_lost(call, ordinal);
  const std::string sentence = joined({call, " on ", place_name(backend::cuda{}, ordinal), " failed for ", operation,
                                       ": ", cublaslt_status_text(status), ". "});
  if (status == CUBLAS_STATUS_ALLOC_FAILED)
    throw out_of_memory(sentence +
                        "cuBLASLt could not allocate its own memory; use a smaller batch or free tensors that are not "
                        "needed.");
  throw error({sentence,
               "CUBLASLT_LOG_LEVEL=2 in the environment makes cuBLASLt log details; if an earlier kernel "
               "failed, DEVPLACE_SYNC_LAUNCH=1 names it.",
               last_launch_text(ordinal)});
}
DEVPLACE_COMPILED_APART(void throw_cublaslt_error(cublasStatus_t, const char*, int, const std::string&))

/// Checks the result of a cuBLASLt call; every such call is wrapped in this function.
inline void check_cublaslt(cublasStatus_t status, const char* call, int ordinal, const product_key& key) {
  if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]]
    throw_cublaslt_error(status, call, ordinal, to_string(key));
}

using cublaslt_layout = device_handle<cublasLtMatrixLayout_t>;
using cublaslt_operation = device_handle<cublasLtMatmulDesc_t>;
using cublaslt_preference = device_handle<cublasLtMatmulPreference_t>;

/// Makes the owner of a descriptor that `Destroy` destroys.
template <auto Destroy, class Descriptor> device_handle<Descriptor> owner_of(Descriptor created, int ordinal) {
  return {created, ordinal, [](void* d, int) noexcept { static_cast<void>(Destroy(static_cast<Descriptor>(d))); }};
}
template <class Descriptor> Descriptor native(const device_handle<Descriptor>& d) {
  return static_cast<Descriptor>(d.get());
}

/// A cuBLASLt product that is prepared once, with its descriptors and a fixed algorithm, so that repeated calls give
/// the same bits. A row-major matrix is the transpose of a column-major one, so C = A B is passed as C^T = B^T A^T
/// without copies: what cuBLASLt calls A and m are B and n here.
struct product_plan {
  cublaslt_operation operation;
  cublaslt_layout first;   ///< layout of B
  cublaslt_layout second;  ///< layout of A
  cublaslt_layout result;  ///< layout of C and D: cuBLASLt requires one descriptor for an in-place product
  cublasLtMatmulAlgo_t algorithm{};
  cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;  ///< success if cuBLASLt computes the product
  bool computes = false;                                ///< whether cuBLASLt has enqueued a product
  int rejected = 0;              ///< number of algorithms that need more workspace or lower the operands' precision
  const void* vector = nullptr;  ///< the vector that `operation` refers to
  std::uint64_t last_use = 0;    ///< the cache's clock at the last use
};

static_assert(dtypes.have(&dtype::cuda,
                          {CUDA_R_32F, CUDA_R_64F, CUDA_R_16F, CUDA_R_16BF, CUDA_R_32I, CUDA_R_64I, CUDA_R_8U}));

inline cublaslt_layout make_product_layout(const product_key& key, const dtype* element, std::uint64_t rows,
                                           std::uint64_t columns, std::uint64_t ld, std::uint64_t stride, int ordinal) {
  cublasLtMatrixLayout_t created = nullptr;
  check_cublaslt(cublasLtMatrixLayoutCreate(&created, static_cast<cudaDataType_t>(element->cuda), columns, rows,
                                            static_cast<std::int64_t>(ld)),
                 "cublasLtMatrixLayoutCreate", ordinal, key);
  cublaslt_layout layout = owner_of<cublasLtMatrixLayoutDestroy>(created, ordinal);
  if (key.batch != 1) {
    const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
      check_cublaslt(cublasLtMatrixLayoutSetAttribute(created, attribute, &value, sizeof value),
                     "cublasLtMatrixLayoutSetAttribute", ordinal, key);
    };
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(key.batch));
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, static_cast<std::int64_t>(stride));
  }
  return layout;
}

void set_product_attribute(const product_plan& plan, cublasLtMatmulDescAttributes_t attribute, const auto& value,
                           int ordinal, const product_key& key) {
  check_cublaslt(cublasLtMatmulDescSetAttribute(native(plan.operation), attribute, &value, sizeof value),
                 "cublasLtMatmulDescSetAttribute", ordinal, key);
}

inline void set_product_vector(product_plan& plan, const void* vector, int ordinal, const product_key& key) {
  if (key.epilogue == library_epilogue::none || plan.vector == vector) return;
  set_product_attribute(plan, CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector, ordinal, key);
  plan.vector = vector;
}

/// Returns whether an algorithm, according to its flags, reads its operands in the requested precision.
inline bool keeps_precision(const cublasLtMatmulAlgo_t& algorithm, const product_key& key) {
  std::uint64_t flags = 0;
  std::size_t written = 0;
  if (cublasLtMatmulAlgoCapGetAttribute(&algorithm, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, sizeof flags,
                                        &written) != CUBLAS_STATUS_SUCCESS)
    return true;
  std::uint64_t allowed = key.operand == dtype_of<double> ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F
                          : key.operand == dtype_of<bf16> ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF
                          : key.operand == dtype_of<half> ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F
                                                          : CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
  if (key.math == product_math::tf32) allowed |= CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32;
  return (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_INPUT_TYPE_MASK & ~allowed) == 0;
}

inline cublaslt_preference make_product_preference(const product_key& key, int ordinal) {
  cublasLtMatmulPreference_t created = nullptr;
  check_cublaslt(cublasLtMatmulPreferenceCreate(&created), "cublasLtMatmulPreferenceCreate", ordinal, key);
  cublaslt_preference preference = owner_of<cublasLtMatmulPreferenceDestroy>(created, ordinal);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    check_cublaslt(cublasLtMatmulPreferenceSetAttribute(created, attribute, &value, sizeof value),
                   "cublasLtMatmulPreferenceSetAttribute", ordinal, key);
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{cuda_product_workspace::bytes});
  // Split-k partial sums are added in the compute type and in a fixed order.
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      std::uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.align_b);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.align_a);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key.align_c);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.align_c);
  return preference;
}

/// Writes to stderr how a product is computed: every product with DEVPLACE_LIST_PRODUCTS=1 in the environment,
/// otherwise the first product that cuBLASLt refuses, except for its epilogue.
inline void report_product(const product_plan& plan, const product_key& key, int ordinal) {
  static const bool all = parse_switch("DEVPLACE_LIST_PRODUCTS", "to list on stderr what computes each product",
                                       std::getenv("DEVPLACE_LIST_PRODUCTS"));
  static std::atomic<bool> said{false};
  const bool refused = plan.status != CUBLAS_STATUS_SUCCESS;
  const bool unexpected =
      refused && (key.epilogue == library_epilogue::none || plan.status != CUBLAS_STATUS_NOT_SUPPORTED);
  if (!all && (!unexpected || said.exchange(true))) return;
  const std::string rejected =
      plan.rejected == 0 ? std::string()
                         : joined({", ", plan.rejected, " algorithms need more workspace or lower precision"});
  const std::string reason =
      refused ? joined({": ", cublaslt_status_text(plan.status), rejected,
                        "; a slower kernel of devplace computes the product. DEVPLACE_LIST_PRODUCTS=1 lists all "
                        "products."})
              : std::string();
  std::fprintf(stderr, "devplace: %s: %sby cuBLASLt: %s%s\n", place_name(backend::cuda{}, ordinal).c_str(),
               refused ? "not " : "", to_string(key).c_str(), reason.c_str());
}

/// Queries cuBLASLt's algorithms, fastest first by its own estimate, and keeps the first usable one. Queries more of
/// them while all are unusable.
inline void choose_algorithm(cublasLtHandle_t handle, product_plan& plan, const product_key& key, int ordinal) {
  const cublaslt_preference preference = make_product_preference(key, ordinal);
  std::array<cublasLtMatmulHeuristicResult_t, 128> results{};  // a vector of this unnamed struct stops nvcc 13.0
  for (const int most : {8, static_cast<int>(results.size())}) {
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle, native(plan.operation), native(plan.first), native(plan.second), native(plan.result),
        native(plan.result), native(preference), most, results.data(), &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) {
      plan.status = status;
      return;
    }
    check_cublaslt(status, "cublasLtMatmulAlgoGetHeuristic", ordinal, key);
    for (int i = 0; i < count; ++i) {
      const cublasLtMatmulHeuristicResult_t& result = results[static_cast<std::size_t>(i)];
      if (result.state != CUBLAS_STATUS_SUCCESS || result.workspaceSize > cuda_product_workspace::bytes) continue;
      if (!keeps_precision(result.algo, key)) continue;
      plan.algorithm = result.algo;
      plan.status = CUBLAS_STATUS_SUCCESS;
      return;
    }
    plan.rejected = count;
    if (count < most) return;
  }
}

/// Makes the plan of a product. `vector` is an example of the epilogue's vector, whose alignment affects the choice.
DEVPLACE_COMPILABLE()
product_plan make_product_plan(cublasLtHandle_t handle, const product_key& key, const void* vector, int ordinal) {
  product_plan plan;
  cublasLtMatmulDesc_t operation = nullptr;
  const bool in_double = key.operand == dtype_of<double>;
  const auto in_float = key.math == product_math::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  check_cublaslt(cublasLtMatmulDescCreate(&operation, in_double ? CUBLAS_COMPUTE_64F : in_float,
                                          in_double ? CUDA_R_64F : CUDA_R_32F),
                 "cublasLtMatmulDescCreate", ordinal, key);
  plan.operation = owner_of<cublasLtMatmulDescDestroy>(operation, ordinal);
  const auto transposition = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set_product_attribute(plan, CUBLASLT_MATMUL_DESC_TRANSA, transposition(key.transpose_b), ordinal, key);
  set_product_attribute(plan, CUBLASLT_MATMUL_DESC_TRANSB, transposition(key.transpose_a), ordinal, key);
  if (key.epilogue != library_epilogue::none) {
    // The bias has as many elements as cuBLASLt's D has rows, which are C's columns. BGRADB sums op(B), here A, over k.
    const cublasLtEpilogue_t epilogue =
        key.epilogue == library_epilogue::bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_BGRADB;
    set_product_attribute(plan, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue, ordinal, key);
    set_product_vector(plan, vector, ordinal, key);
  }
  plan.first = key.transpose_b ? make_product_layout(key, key.operand, key.n, key.k, key.ldb, key.stride_b, ordinal)
                               : make_product_layout(key, key.operand, key.k, key.n, key.ldb, key.stride_b, ordinal);
  plan.second = key.transpose_a ? make_product_layout(key, key.operand, key.k, key.m, key.lda, key.stride_a, ordinal)
                                : make_product_layout(key, key.operand, key.m, key.k, key.lda, key.stride_a, ordinal);
  plan.result = make_product_layout(key, key.result, key.m, key.n, key.ldc, key.stride_c, ordinal);
  choose_algorithm(handle, plan, key, ordinal);
  report_product(plan, key, ordinal);
  return plan;
}
DEVPLACE_COMPILED_APART(product_plan make_product_plan(cublasLtHandle_t, const product_key&, const void*, int))

}  // namespace devplace::detail
