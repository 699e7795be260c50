// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/backend/cuda/peer_access.hpp>
#include <devplace/ops/peer_copy.hpp>

namespace devplace {

/// Copies over NVLink or PCIe if the devices have peer access, otherwise through the host.
template <>
struct implementation<backend::cuda, op::peer_copy> {
  static void run(int ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
    detail::copy_from_cuda_peer(ordinal, to, from_ordinal, from, bytes);
  }

  static std::string why_apart(int ordinal, int other) {
    if (detail::cuda_reaches(ordinal, other)) return {};
    return detail::place_name(backend::cuda{}, ordinal) + " cannot reach the memory of " +
           detail::place_name(backend::cuda{}, other);
  }
};

}  // namespace devplace
