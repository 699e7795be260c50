// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>

#include <devplace/ops/peer_copy.hpp>

namespace devplace {

template <>
struct implementation<backend::cpu, op::peer_copy> {
  static void run(int, void* to, int, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
};

}  // namespace devplace
