// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>

#include <devplace/backend/cuda/queue.hpp>

namespace devplace::detail {

/// Returns whether the place `ordinal` can access the memory of the place `other` over NVLink or PCIe. The first query
/// enables access to the pool of `other`. Pool memory needs cudaMemPoolSetAccess; cudaDeviceEnablePeerAccess covers
/// only cudaMalloc. CUDA is queried once per pair.
inline bool cuda_can_access(int ordinal, int other) {
  enum : signed char { unknown, yes, no };
  static std::array<std::array<std::atomic<signed char>, counted_ordinals>, counted_ordinals> answers{};
  const int visible = cuda_visible_device(ordinal), peer = cuda_visible_device(other);
  if (visible == peer) return true;
  std::atomic<signed char>& answer = answers[static_cast<std::size_t>(ordinal)][static_cast<std::size_t>(other)];
  if (const signed char known = answer.load(std::memory_order_acquire); known != unknown) return known == yes;
  int reachable = 0;
  {
    const cuda_device_guard device(ordinal);
    check_cuda(cudaDeviceCanAccessPeer(&reachable, visible, peer), "cudaDeviceCanAccessPeer", ordinal);
  }
  if (reachable != 0) {
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = visible;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    const cuda_scope owner(other);
    check_cuda(cudaMemPoolSetAccess(owner.pool(), &access, 1), "cudaMemPoolSetAccess", other);
  }
  answer.store(reachable != 0 ? yes : no, std::memory_order_release);
  return reachable != 0;
}

}  // namespace devplace::detail
