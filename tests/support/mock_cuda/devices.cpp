// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mock's functions for devices and errors.

#include <cuda.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "support/mock_cuda/state.hpp"

namespace devplace::test::mock_cuda {

namespace {

/// cuDevicePrimaryCtxGetState of CUDA's driver, for which a device's handle is its number.
CUresult context_state(CUdevice device, unsigned* flags, int* active) {
  *flags = 0;
  *active = static_cast<int>(of_process().contexts.count(device));
  return CUDA_SUCCESS;
}

}  // namespace

}  // namespace devplace::test::mock_cuda

namespace mock = devplace::test::mock_cuda;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaGetDeviceCount", {}, mock::need::nothing);
  if (code != cudaSuccess) {
    *count = -1;
    return code;
  }
  *count = mock::of_process().devices;
  return *count == 0 ? mock::answer(mock::of_process().none_found) : cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = mock::current;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  const mock::held_lock lock;
  if (device < 0 || device >= mock::of_process().devices) return mock::answer(cudaErrorInvalidDevice);
  ++mock::of_process().device_changes;
  const cudaError_t code = mock::make_context(device);
  if (code == cudaSuccess) mock::current = device;
  return code;
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** found, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
#else
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** found, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
#endif
  const bool known = std::string(symbol) == "cuDevicePrimaryCtxGetState";
  *found = known ? reinterpret_cast<void*>(&mock::context_state) : nullptr;
  *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

// An error of a broken device is sticky: cudaGetLastError does not clear the record.
cudaError_t cudaGetLastError() {
  const mock::held_lock lock;
  const auto broken = mock::of_process().broken.find(mock::current);
  const bool sticky = broken != mock::of_process().broken.end() && broken->second == mock::last_error;
  return sticky ? mock::last_error : std::exchange(mock::last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() { return mock::last_error; }

const char* cudaGetErrorName(cudaError_t code) {
  switch (code) {
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    case cudaErrorInsufficientDriver:
      return "cudaErrorInsufficientDriver";
    default:
      return "cudaErrorOfTheMock";
  }
}

const char* cudaGetErrorString(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    default:
      return "an error of the mock";
  }
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaGetDeviceProperties", {}, mock::need::description);
  if (code != cudaSuccess) return code;
  *properties = cudaDeviceProp{};
  std::snprintf(properties->name, sizeof properties->name, "Mock GPU %d", device);
  properties->multiProcessorCount = 7;
  properties->major = 9;
  properties->l2CacheSize = 4096;
  for (int i = 0; i < 16; ++i) properties->uuid.bytes[i] = static_cast<char>(16 * device + i);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const mock::held_lock lock;
  switch (attribute) {
    case cudaDevAttrWarpSize:
      *value = 32;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = 7;
      break;
    case cudaDevAttrMaxThreadsPerBlock:
      *value = 1024;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = 48 << 10;
      break;
    case cudaDevAttrMaxGridDimX:
      *value = 2147483647;
      break;
    default:
      *value = 0;
  }
  return mock::begin("cudaDeviceGetAttribute", {}, mock::need::description);
}

cudaError_t cudaDeviceGetPCIBusId(char* address, int size, int device) {
  const mock::held_lock lock;
  std::snprintf(address, static_cast<std::size_t>(size), "0000:%02x:00.0", device + 1);
  return mock::begin("cudaDeviceGetPCIBusId", {}, mock::need::description);
}

cudaError_t cudaDriverGetVersion(int* version) {
  const mock::held_lock lock;
  *version = 12080;
  return mock::begin("cudaDriverGetVersion", {}, mock::need::description);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaMemGetInfo");
  mock::runtime& r = mock::of_process();
  *total = *free = r.memory;
  for (const auto& [address, block] : r.blocks)
    if (block.device == mock::current) *free -= block.bytes;
  return code;
}

}  // extern "C"
