// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <devplace/backend/cuda/runtime.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/place/device_info.hpp>

namespace devplace {

namespace detail {

/// Returns the device behind the place `ordinal`; empty if neither the device map nor CUDA_VISIBLE_DEVICES renumbers
/// devices. The PCI address names the physical device, as in nvidia-smi, because CUDA hides the machine's numbering.
inline std::string cuda_binding(int ordinal, int visible) {
  if (!device_map::of_process().given() && !cuda_devices().numbering.given()) return {};
  char address[32] = "unknown";
  check_cuda(cudaDeviceGetPCIBusId(address, sizeof address, visible), "cudaDeviceGetPCIBusId", ordinal);
  return joined({"visible device ", visible, ", PCI address ", address});
}

/// Formats a UUID like nvidia-smi.
inline std::string cuda_uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    for (const int shift : {4, 0})
      text += "0123456789abcdef"[(static_cast<unsigned char>(uuid.bytes[i]) >> shift) & 15];
  }
  return text;
}

/// Returns limits and capabilities, named as in CUDA without the prefix cudaDevAttr.
inline std::vector<device_attribute> cuda_attributes(int ordinal, int visible) {
  struct named {
    const char* name;
    cudaDeviceAttr attribute;
  };
  static constexpr named list[] = {{"WarpSize", cudaDevAttrWarpSize},
                                   {"MaxThreadsPerBlock", cudaDevAttrMaxThreadsPerBlock},
                                   {"MaxThreadsPerMultiProcessor", cudaDevAttrMaxThreadsPerMultiProcessor},
                                   {"MaxBlocksPerMultiprocessor", cudaDevAttrMaxBlocksPerMultiprocessor},
                                   {"MaxRegistersPerMultiprocessor", cudaDevAttrMaxRegistersPerMultiprocessor},
                                   {"MaxSharedMemoryPerBlock", cudaDevAttrMaxSharedMemoryPerBlock},
                                   {"MaxSharedMemoryPerBlockOptin", cudaDevAttrMaxSharedMemoryPerBlockOptin},
                                   {"MaxSharedMemoryPerMultiprocessor", cudaDevAttrMaxSharedMemoryPerMultiprocessor},
                                   {"ClockRate", cudaDevAttrClockRate},
                                   {"MemoryClockRate", cudaDevAttrMemoryClockRate},
                                   {"GlobalMemoryBusWidth", cudaDevAttrGlobalMemoryBusWidth},
                                   {"AsyncEngineCount", cudaDevAttrAsyncEngineCount},
                                   {"ConcurrentKernels", cudaDevAttrConcurrentKernels},
                                   {"CooperativeLaunch", cudaDevAttrCooperativeLaunch},
                                   {"EccEnabled", cudaDevAttrEccEnabled},
                                   {"Integrated", cudaDevAttrIntegrated},
                                   {"ManagedMemory", cudaDevAttrManagedMemory},
                                   {"UnifiedAddressing", cudaDevAttrUnifiedAddressing},
                                   {"PageableMemoryAccess", cudaDevAttrPageableMemoryAccess},
                                   {"MemoryPoolsSupported", cudaDevAttrMemoryPoolsSupported},
                                   {"HostNativeAtomicSupported", cudaDevAttrHostNativeAtomicSupported},
                                   {"GPUDirectRDMASupported", cudaDevAttrGPUDirectRDMASupported},
                                   {"ComputeMode", cudaDevAttrComputeMode}};
  std::vector<device_attribute> found;
  for (const named& entry : list) {
    int value = 0;
    check_cuda(cudaDeviceGetAttribute(&value, entry.attribute, visible), "cudaDeviceGetAttribute", ordinal);
    found.push_back({entry.name, value});
  }
  return found;
}

/// Returns the other cuda places whose memory this place can access: places on the same device, and peers.
inline std::vector<std::string> cuda_peers(int ordinal, int visible) {
  std::vector<std::string> found;
  const int count = cuda_place_count("a query of the devices");
  for (int other = 0; other < count; ++other) {
    if (other == ordinal) continue;
    const int peer = cuda_visible_device(other);
    int reachable = peer == visible ? 1 : 0;
    if (peer != visible)
      check_cuda(cudaDeviceCanAccessPeer(&reachable, visible, peer), "cudaDeviceCanAccessPeer", ordinal);
    if (reachable != 0) found.push_back(place_name(backend::cuda{}, other));
  }
  return found;
}

}  // namespace detail

template <> struct implementation<backend::cuda, op::device_query> {
  static int count() { return detail::cuda_place_count("a query of the devices"); }
  static std::string why_unavailable(int ordinal) { return detail::why_no_cuda_device(ordinal); }
  static std::string support() { return "CUDA " + detail::cuda_version_text(CUDART_VERSION); }
  static std::string numbering() { return detail::cuda_devices().numbering.text(); }
  static device_information describe(int ordinal) {
    const detail::cuda_device_guard device(ordinal);
    cudaDeviceProp properties{};
    detail::check_cuda(cudaGetDeviceProperties(&properties, device.visible()), "cudaGetDeviceProperties", ordinal);
    std::size_t free = 0, total = 0;
    detail::check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", ordinal);
    int driver = 0;
    detail::check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion", ordinal);
    return {detail::place_name(backend::cuda{}, ordinal),
            properties.name,
            properties.multiProcessorCount,
            "SMs",
            total,
            free,
            detail::joined({support(), ", driver for up to ", detail::cuda_version_text(driver),
                            ", compute capability ", properties.major, ".", properties.minor}),
            detail::cuda_binding(ordinal, device.visible()),
            detail::cuda_uuid_text(properties.uuid),
            properties.major,
            properties.minor,
            static_cast<std::size_t>(properties.l2CacheSize),
            detail::cuda_attributes(ordinal, device.visible()),
            detail::cuda_peers(ordinal, device.visible())};
  }
};

}  // namespace devplace
