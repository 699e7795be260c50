// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include <devplace/backend/cuda/lost_device.hpp>
#include <devplace/base/error.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// Returns advice for an error of `call` that leaves the device usable, except out-of-memory and a missing device.
inline const char* cuda_error_remedy(cudaError_t code, std::string_view call) {
  switch (code) {
    case cudaErrorNotSupported:
      return call.starts_with("cudaMemPool")
                 ? "The GPU has no memory pools, which devplace needs: it is a virtual GPU without unified memory, or "
                   "its driver is too old. Turn on unified memory for the virtual GPU, update the driver, or use "
                   "another GPU."
                 : "The GPU or its driver does not have this function; update the driver, or use another GPU.";
    case cudaErrorDevicesUnavailable:
      return "Another process uses the GPU, which is in exclusive-process mode, or its mode prohibits computing: see "
             "the compute mode and the processes in nvidia-smi -q. Give each process a GPU of its own by "
             "bind_devices() or CUDA_VISIBLE_DEVICES, or change the mode by nvidia-smi -c DEFAULT.";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
      return "The program contains no code for this GPU; add its architecture to CMAKE_CUDA_ARCHITECTURES and rebuild.";
    case cudaErrorUnsupportedPtxVersion:
      return "The driver is older than the CUDA Toolkit of this program; update the driver, or build with the GPU's "
             "architecture in CMAKE_CUDA_ARCHITECTURES.";
    default:
      return "Run the program under compute-sanitizer to find the failing kernel; an asynchronous error may come from "
             "work that was enqueued earlier.";
  }
}

/// Throws the exception for a failed call. Clears CUDA's record of the error, or marks the device as lost.
[[noreturn]] inline void throw_cuda_error(cudaError_t code, const char* call, int ordinal) {
  static_cast<void>(cudaGetLastError());
  if (is_device_lost(code)) {
    mark_cuda_device_lost(code, call, ordinal);
    require_cuda_device_usable(ordinal);
  }
  const std::string sentence =
      joined({call, " on ", place_name(backend::cuda{}, ordinal), " failed: ", cuda_error_text(code), ". "});
  if (code == cudaErrorMemoryAllocation)
    throw out_of_memory(sentence +
                        "Use a smaller batch, free tensors that are not needed, or see nvidia-smi for other "
                        "programs on this GPU.");
  throw error(sentence + cuda_error_remedy(code, call) + last_launch_text(ordinal));
}

/// Checks the result of a CUDA runtime call; every such call is wrapped in this function.
inline void check_cuda(cudaError_t code, const char* call, int ordinal) {
  if (code != cudaSuccess) [[unlikely]]
    throw_cuda_error(code, call, ordinal);
}

/// Ignores a call's result, as destructors do. Clears CUDA's record, which would pass for an error of the program.
inline void ignore_cuda(cudaError_t code) noexcept {
  if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
}

/// Whether a queried stream or event has work left; false after a failure, which a call that waits throws.
inline bool cuda_query_pending(cudaError_t code, const char* call, int ordinal) {
  if (code == cudaSuccess) return false;
  static_cast<void>(cudaGetLastError());
  if (is_device_lost(code)) mark_cuda_device_lost(code, call, ordinal);
  return code == cudaErrorNotReady;
}

}  // namespace devplace::detail
