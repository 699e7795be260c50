// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/backend/cuda/runtime.hpp>
#include <devplace/ops/peer_copy.hpp>

namespace devplace {

/// Copies go over NVLink or PCIe where the devices can reach each other, through the host otherwise.
template <>
struct implementation<backend::cuda, op::peer_copy> {
  static void run(int ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
    const detail::cuda_device_guard device(ordinal);
    detail::check_cuda(
        cudaMemcpyPeerAsync(to, device.visible(), from, detail::cuda_visible_device(from_ordinal), bytes, nullptr),
        "cudaMemcpyPeerAsync", ordinal);
  }

  static std::string why_apart(int ordinal, int other) {
    const detail::cuda_device_guard device(ordinal);
    const int peer = detail::cuda_visible_device(other);
    if (device.visible() == peer) return {};
    int reachable = 0;
    detail::check_cuda(cudaDeviceCanAccessPeer(&reachable, device.visible(), peer), "cudaDeviceCanAccessPeer", ordinal);
    if (reachable == 0)
      return detail::place_name(backend::cuda{}, ordinal) + " cannot reach the memory of " +
             detail::place_name(backend::cuda{}, other);
    const cudaError_t code = cudaDeviceEnablePeerAccess(peer, 0);
    if (code == cudaErrorPeerAccessAlreadyEnabled)
      static_cast<void>(cudaGetLastError());
    else
      detail::check_cuda(code, "cudaDeviceEnablePeerAccess", ordinal);
    return {};
  }
};

}  // namespace devplace
