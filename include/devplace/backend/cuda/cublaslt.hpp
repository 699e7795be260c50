// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <type_traits>

#include <devplace/backend/cuda/product_key.hpp>
#include <devplace/backend/cuda/queue.hpp>

namespace devplace::detail {

/// Throws the exception for a failed cuBLASLt call on behalf of the product `operation`; device_lost if the device is
/// lost.
[[noreturn]] inline void throw_cublaslt_error(cublasStatus_t status, const char* call, int ordinal,
                                              const std::string& operation) {
  throw_if_device_lost(call, ordinal);
  const std::string sentence = joined({call, " on ", place_name(backend::cuda{}, ordinal), " failed for ", operation,
                                       ": ", cublasLtGetStatusString(status), " (", static_cast<int>(status), "). "});
  if (status == CUBLAS_STATUS_ALLOC_FAILED)
    throw out_of_memory(sentence +
                        "cuBLASLt could not allocate its own memory; use a smaller batch or free tensors that are not "
                        "needed.");
  throw error({sentence,
               "CUBLASLT_LOG_LEVEL=2 in the environment makes cuBLASLt log details; if an earlier kernel "
               "failed, DEVPLACE_SYNC_LAUNCH=1 names it.",
               last_launch_text(ordinal)});
}

/// Checks the result of a cuBLASLt call; every such call is wrapped in this function.
inline void check_cublaslt(cublasStatus_t status, const char* call, int ordinal, const product_key& key) {
  if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]]
    throw_cublaslt_error(status, call, ordinal, to_string(key));
}

template <class Handle, cublasStatus_t (*Destroy)(Handle)> struct cublaslt_deleter {
  void operator()(Handle handle) const { static_cast<void>(Destroy(handle)); }
};
template <class Handle, cublasStatus_t (*Destroy)(Handle)>
using cublaslt_owner = std::unique_ptr<std::remove_pointer_t<Handle>, cublaslt_deleter<Handle, Destroy>>;

using cublaslt_layout = cublaslt_owner<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;
using cublaslt_operation = cublaslt_owner<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy>;
using cublaslt_preference = cublaslt_owner<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy>;

}  // namespace devplace::detail
