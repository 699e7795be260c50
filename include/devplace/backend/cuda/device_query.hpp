// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/backend/cuda/runtime.hpp>
#include <devplace/place/device_info.hpp>

namespace devplace {

/// The devices that CUDA gives to this process.
template <>
struct implementation<backend::cuda, op::device_query> {
  static int count() { return detail::cuda_devices().count; }
  static std::string why_unavailable(int ordinal) { return detail::why_no_cuda_device(ordinal); }
  static std::string support() {
    return "CUDA " + std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
  }
  static device_information describe(int ordinal) {
    const detail::cuda_device_guard device(ordinal);
    cudaDeviceProp properties{};
    detail::check_cuda(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties", ordinal);
    std::size_t free = 0, total = 0;
    detail::check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", ordinal);
    return {detail::place_name(backend::cuda{}, ordinal),
            properties.name,
            properties.multiProcessorCount,
            "SMs",
            total,
            free,
            support() + ", compute capability " + std::to_string(properties.major) + "." +
                std::to_string(properties.minor)};
  }
};

}  // namespace devplace
