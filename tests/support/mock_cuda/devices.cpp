// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mock's functions for devices and errors.

#include <cuda.h>

#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

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

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = -1;
  const auto find = [&] {
    *count = of_process().devices;
    return *count == 0 ? answer(of_process().none_found) : cudaSuccess;
  };
  return perform("cudaGetDeviceCount", "", find, need::nothing);
}

cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  const held_lock lock;
  if (device < 0 || device >= of_process().devices) return answer(cudaErrorInvalidDevice);
  ++of_process().device_changes;
  return finish(make_context(device), [&] { current = device; });
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** found, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
#else
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** found, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
#endif
  const bool known = std::string(symbol) == "cuDevicePrimaryCtxGetState";
  *found = known ? reinterpret_cast<void*>(&context_state) : nullptr;
  *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

// An error of a broken device is sticky: cudaGetLastError does not clear the record.
cudaError_t cudaGetLastError() {
  const held_lock lock;
  const auto broken = of_process().broken.find(current);
  const bool sticky = broken != of_process().broken.end() && broken->second == last_error;
  return sticky ? last_error : std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorName(cudaError_t code) {
  return code == cudaErrorInvalidValue         ? "cudaErrorInvalidValue"
         : code == cudaErrorMemoryAllocation   ? "cudaErrorMemoryAllocation"
         : code == cudaErrorIllegalAddress     ? "cudaErrorIllegalAddress"
         : code == cudaErrorInsufficientDriver ? "cudaErrorInsufficientDriver"
                                               : "cudaErrorOfTheMock";
}

const char* cudaGetErrorString(cudaError_t code) {
  return code == cudaErrorMemoryAllocation     ? "out of memory"
         : code == cudaErrorIllegalAddress     ? "an illegal memory access was encountered"
         : code == cudaErrorInsufficientDriver ? "CUDA driver version is insufficient for CUDA runtime version"
                                               : "an error of the mock";
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const auto describe = [&] {
    *properties = cudaDeviceProp{};
    std::snprintf(properties->name, sizeof properties->name, "Mock GPU %d", device);
    properties->multiProcessorCount = 7;
    properties->major = 9;
    properties->l2CacheSize = 4096;
    for (int i = 0; i < 16; ++i) properties->uuid.bytes[i] = static_cast<char>(16 * device + i);
  };
  return perform("cudaGetDeviceProperties", "", describe, need::description);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  static const std::map<cudaDeviceAttr, int> known{{cudaDevAttrWarpSize, 32},
                                                   {cudaDevAttrComputeCapabilityMajor, 9},
                                                   {cudaDevAttrMultiProcessorCount, 7},
                                                   {cudaDevAttrMaxThreadsPerBlock, 1024},
                                                   {cudaDevAttrMaxGridDimX, 2147483647},
                                                   {cudaDevAttrMaxSharedMemoryPerBlock, 48 << 10}};
  const auto look_up = [&] { *value = known.count(attribute) == 0 ? 0 : known.at(attribute); };
  return perform("cudaDeviceGetAttribute", "", look_up, need::description);
}

cudaError_t cudaDeviceGetPCIBusId(char* address, int size, int device) {
  std::snprintf(address, static_cast<std::size_t>(size), "0000:%02x:00.0", device + 1);
  return perform("cudaDeviceGetPCIBusId", "", [] {}, need::description);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 12080;
  return perform("cudaDriverGetVersion", "", [] {}, need::description);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return perform("cudaMemGetInfo", "", [&] {
    *total = *free = of_process().memory;
    for (const auto& [address, block] : of_process().blocks) *free -= block.device == current ? block.bytes : 0;
  });
}

}  // extern "C"

}  // namespace devplace::test::mock_cuda
