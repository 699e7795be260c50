// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/ops/peer_copy.hpp>

namespace devplace {

/// Copies go over NVLink or PCIe where the devices can reach each other, through the host otherwise.
template <>
struct implementation<backend::cuda, op::peer_copy> {
  static void run(int ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
    const detail::cuda_scope device(ordinal);
    detail::check_cuda(cudaMemcpyPeerAsync(to, device.visible(), from, detail::cuda_visible_device(from_ordinal), bytes,
                                           device.stream()),
                       "cudaMemcpyPeerAsync", ordinal);
  }

  static std::string why_apart(int ordinal, int other) {
    const detail::cuda_scope device(ordinal);
    const int peer = detail::cuda_visible_device(other);
    if (device.visible() == peer) return {};
    int reachable = 0;
    detail::check_cuda(cudaDeviceCanAccessPeer(&reachable, device.visible(), peer), "cudaDeviceCanAccessPeer", ordinal);
    if (reachable == 0)
      return detail::place_name(backend::cuda{}, ordinal) + " cannot reach the memory of " +
             detail::place_name(backend::cuda{}, other);
    // Memory of a pool is opened pool by pool; cudaDeviceEnablePeerAccess is about cudaMalloc's.
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = device.visible();
    access.flags = cudaMemAccessFlagsProtReadWrite;
    const detail::cuda_scope other_device(other);
    detail::check_cuda(cudaMemPoolSetAccess(other_device.pool(), &access, 1), "cudaMemPoolSetAccess", ordinal);
    return {};
  }
};

}  // namespace devplace
