// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <zlib.h>

#include <devplace/base/joined.hpp>
#include <devplace/config.hpp>
#include <devplace/io/detail/inflate_reader.hpp>
#include <devplace/io/input_file.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Continues the CRC-32 of zip files with more bytes.
inline std::uint32_t zip_checksum(std::uint32_t before, const void* bytes, std::size_t count) {
  return static_cast<std::uint32_t>(::crc32_z(before, static_cast<const Bytef*>(bytes), count));
}

/// Decompresses a member of a zip file while it is read: a raw deflate stream, without header and checksum.
class deflate_reader final : public inflate_reader {
 public:
  /// `compressed`, `operation` and `name`, which appear in messages, must outlive the reader.
  deflate_reader(byte_source& compressed, std::string_view operation, std::string_view name)
      : inflate_reader(compressed, -MAX_WBITS, operation, name, "save it without compression, by np.savez.") {}

  /// Reads fewer bytes only at the end of the stream. Throws file_error for a damaged or truncated stream.
  std::size_t read(void* to, std::size_t bytes) override {
    std::size_t used = 0;
    while (used < bytes && !ended_) {
      const int status = decompress(to, bytes, used);
      if (status == Z_BUF_ERROR) fail({"ends inside its compressed data. Copy it again."});
      if (status != Z_OK && status != Z_STREAM_END) fail({"is damaged: ", reason(), ". Copy it again."});
      ended_ = status == Z_STREAM_END;
    }
    return used;
  }

  remaining_bytes remaining() const override { return {std::numeric_limits<std::uint64_t>::max(), false}; }
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
