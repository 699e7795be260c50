// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>

#include <devplace/place/device_map.hpp>

namespace devplace::detail {

/// This thread's current stream on the cuda place `ordinal`; null: the place's own stream.
inline void*& current_stream(int ordinal) {
  static thread_local std::array<void*, counted_ordinals> streams{};
  return streams[static_cast<std::size_t>(ordinal)];
}

}  // namespace devplace::detail
