// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>

namespace devplace::detail {

/// Rows of `width` bytes at fixed distances: a part of an array along an axis other than the first.
struct row_block {
  std::size_t width;
  std::size_t rows;
  std::size_t to_pitch;
  std::size_t from_pitch;
};

/// Copies a block within host memory; source and destination must not overlap.
inline void copy_row_block(void* to, const void* from, const row_block& block) {
  for (std::size_t row = 0; row != block.rows; ++row)
    std::memcpy(static_cast<char*>(to) + row * block.to_pitch, static_cast<const char*>(from) + row * block.from_pitch,
                block.width);
}

}  // namespace devplace::detail
