// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <devplace/backend/cuda/cudnn_plan.hpp>

#include "support/catch.hpp"

namespace devplace::test {

/// The properties of an H100 as cuDNN 9.19 writes them.
inline constexpr char h100[] = R"({"cudaDeviceId": 0, "deviceVer": 900, "driverVer": 13000,
  "totalGlobalMem": 85017755648, "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "regsPerBlock": 65536, "multiProcessorCount": 132, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
  "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
  "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0,
  "supportCoopLaunch": 1, "smClockRateKHz": 1980000, "memClockRateKHz": 2619000, "l2CacheSize": 52428800,
  "deviceName": "NVIDIA H100 80GB HBM3"})";

/// Returns whether there is a CUDA driver. If not, loads a stand-in that cuDNN accepts.
inline bool has_cuda_driver() {
  static const bool found = [] {
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
    REQUIRE(dlopen(DEVPLACE_TEST_STAND_IN_DRIVER, RTLD_NOW | RTLD_GLOBAL) != nullptr);
    return false;
  }();
  return found;
}

/// Returns the workspaces, in bytes, of the plans of all engines that keep the promises. Makes plans as choose_engine
/// does, but with these device properties instead of a handle, which needs a device.
inline std::vector<std::size_t> h100_workspaces(std::span<const cudnnBackendDescriptor_t> operations, bool tensor_cores,
                                                const detail::cudnn_caller& caller) {
  using detail::cudnn_descriptor;
  const auto set = [](const cudnn_descriptor& d, cudnnBackendAttributeName_t name, const cudnn_descriptor& other) {
    cudnnBackendDescriptor_t handle = other.get();
    REQUIRE(cudnnBackendSetAttribute(d.get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle) == CUDNN_STATUS_SUCCESS);
  };
  cudnn_descriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, caller);
  REQUIRE(cudnnBackendSetAttribute(device.get(), CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                   sizeof h100 - 1, h100) == CUDNN_STATUS_SUCCESS);
  REQUIRE(device.finalize(caller));
  cudnn_descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, caller);
  graph.set_all(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations, caller);
  REQUIRE(graph.finalize(caller));
  cudnn_descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, caller);
  set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  set(heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A, caller);
  REQUIRE(heuristic.finalize(caller));
  std::vector<std::size_t> found;
  for (const cudnn_descriptor& configuration : heuristic_results(heuristic, caller)) {
    if (!keeps_promises(configuration, tensor_cores, caller)) continue;
    cudnn_descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, caller);
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device);
    if (!plan.finalize(caller)) continue;
    std::array<std::int64_t, 1> bytes{};
    plan.read(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, bytes, caller);
    found.push_back(static_cast<std::size_t>(bytes[0]));
  }
  return found;
}

}  // namespace devplace::test
