// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

#include <devplace/backend/cuda/runtime.hpp>
#include <devplace/place/device_info.hpp>

namespace devplace {

namespace detail {

/// The device behind the place `ordinal`; empty where nothing renumbers. CUDA hides the machine's own numbers, so the
/// physical device is named by its PCI address, as nvidia-smi shows it.
inline std::string cuda_binding(int ordinal, int visible) {
  if (!device_map::of_process().given() && std::getenv("CUDA_VISIBLE_DEVICES") == nullptr) return {};
  char address[32] = "unknown";
  check_cuda(cudaDeviceGetPCIBusId(address, sizeof address, visible), "cudaDeviceGetPCIBusId", ordinal);
  return "visible device " + std::to_string(visible) + ", PCI address " + address;
}

}  // namespace detail

/// The devices that CUDA gives to this process.
template <>
struct implementation<backend::cuda, op::device_query> {
  static int count() { return detail::cuda_place_count("a query of the devices"); }
  static std::string why_unavailable(int ordinal) { return detail::why_no_cuda_device(ordinal); }
  static std::string support() {
    return "CUDA " + std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
  }
  static device_information describe(int ordinal) {
    const detail::cuda_device_guard device(ordinal);
    cudaDeviceProp properties{};
    detail::check_cuda(cudaGetDeviceProperties(&properties, device.visible()), "cudaGetDeviceProperties", ordinal);
    std::size_t free = 0, total = 0;
    detail::check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", ordinal);
    return {
        detail::place_name(backend::cuda{}, ordinal),
        properties.name,
        properties.multiProcessorCount,
        "SMs",
        total,
        free,
        support() + ", compute capability " + std::to_string(properties.major) + "." + std::to_string(properties.minor),
        detail::cuda_binding(ordinal, device.visible())};
  }
};

}  // namespace devplace
