// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>

#include <devplace/config.hpp>

// Either header defines gzip_reader.
#include DEVPLACE_GZIP_READER

namespace devplace::detail {

/// Whether the bytes begin with gzip's magic number (RFC 1952).
inline bool is_gzip(std::span<const unsigned char> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

}  // namespace devplace::detail
