// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The calls of cuBLAS that devplace makes, for the mock of CUDA's runtime: products are noted and not computed.

#include <cublas_v2.h>

#include "support/mock_cuda/mock_cuda.hpp"

namespace mock = devplace::test::mock_cuda;

namespace {

struct handle {
  cudaStream_t stream = nullptr;
};

cublasStatus_t multiply(const char* function, cublasHandle_t of) {
  const cudaError_t code = mock::launch_of_library(function, reinterpret_cast<handle*>(of)->stream);
  return code == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* created) {
  static handle of_ordinals[8];  // like devplace's own handles they are there until the process ends
  static int next = 0;
  *created = reinterpret_cast<cublasHandle_t>(&of_ordinals[next++]);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t of, cudaStream_t stream) {
  reinterpret_cast<handle*>(of)->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusString(cublasStatus_t) {
  return "a status of the mock";
}

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t of, cublasOperation_t, cublasOperation_t, int64_t, int64_t, int64_t,
                                 const float*, const float*, int64_t, const float*, int64_t, const float*, float*,
                                 int64_t) {
  return multiply("cublasSgemm", of);
}

cublasStatus_t cublasDgemm_v2_64(cublasHandle_t of, cublasOperation_t, cublasOperation_t, int64_t, int64_t, int64_t,
                                 const double*, const double*, int64_t, const double*, int64_t, const double*, double*,
                                 int64_t) {
  return multiply("cublasDgemm", of);
}

}  // extern "C"
