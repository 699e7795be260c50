// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cublas_v2.h>

#include <array>
#include <mutex>
#include <string>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/statistics.hpp>

namespace devplace::detail {

/// Every call of cuBLAS goes through here.
inline void check_cublas(cublasStatus_t status, const char* call, int ordinal) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]]
    return;
  const std::string what = std::string(call) + " on " + place_name(backend::cuda{}, ordinal) +
                           " failed: " + cublasGetStatusString(status) + " (" +
                           std::to_string(static_cast<int>(status)) + "). ";
  if (status == CUBLAS_STATUS_ALLOC_FAILED)
    throw out_of_memory(what +
                        "cuBLAS found no memory for its workspace; use a smaller batch or free tensors that are "
                        "not needed.");
  throw error(what + "CUBLAS_LOGINFO_DBG=1 and CUBLAS_LOGDEST_DBG=stderr in the environment make cuBLAS say more.");
}

/// cuBLAS on one device. A handle serves one thread at a time, so that a call holds the mutex.
struct cublas_device {
  std::mutex mutex;
  cublasHandle_t handle = nullptr;
};

/// The handle of the place `ordinal`, in whose scope the caller is; made at first use, for the place's stream, in
/// strict arithmetic of the element type (no TF32). It stays until the process ends: CUDA may end before static objects
/// do.
inline cublas_device& cublas_of(int ordinal, const cuda_scope& scope) {
  static auto& devices = *new std::array<cublas_device, counted_ordinals>;
  cublas_device& device = devices[static_cast<std::size_t>(ordinal)];
  const std::lock_guard lock(device.mutex);
  if (device.handle == nullptr) {
    cublasHandle_t handle = nullptr;
    check_cublas(cublasCreate(&handle), "cublasCreate", ordinal);
    device.handle = handle;
    check_cublas(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode", ordinal);
    check_cublas(cublasSetStream(handle, scope.stream()), "cublasSetStream", ordinal);
  }
  return device;
}

}  // namespace devplace::detail
