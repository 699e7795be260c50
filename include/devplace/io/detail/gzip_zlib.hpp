// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include <zlib.h>

#include <devplace/base/joined.hpp>
#include <devplace/config.hpp>
#include <devplace/io/detail/inflate_reader.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Decompresses a gzip file while it is read.
class gzip_reader final : public inflate_reader {
 public:
  /// `begun` has the bytes that were already read from `compressed`, at most 16. `compressed` and the texts, which
  /// appear in messages, must outlive the reader.
  gzip_reader(byte_source& compressed, std::span<const unsigned char> begun, std::string_view operation,
              std::string_view name)
      : inflate_reader(compressed, gzip_only, operation, name, "decompress the file with gunzip.") {
    std::copy(begun.begin(), begun.end(), input_.begin());
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(begun.size());
  }

  /// Reads fewer bytes only at the end; the stream is then complete and its checksum correct. Throws file_error.
  std::size_t read(void* to, std::size_t bytes) override {
    std::size_t used = 0;
    while (used < bytes && !ended_) {
      const int status = decompress(to, bytes, used);
      if (status == Z_STREAM_END)
        next_member();
      else if (status == Z_BUF_ERROR)
        fail({"ends inside its gzip stream. Copy it again."});
      else if (status != Z_OK)
        fail({"is a damaged gzip file: ", reason(), ". Copy it again."});
    }
    return used;
  }

  /// Bounds the rest of the contents: deflate expands a byte to at most 1032 bytes.
  remaining_bytes remaining() const override {
    const remaining_bytes compressed = compressed_.remaining();
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() / 1032 - (std::uint64_t{1} << 20);
    return {(std::min(compressed.count, largest) + stream_.avail_in + window_bytes) * 1032, false};
  }

 private:
  static constexpr int gzip_only = 16 + MAX_WBITS;
  /// zlib may buffer its whole window.
  static constexpr std::uint64_t window_bytes = std::uint64_t{1} << 15;
  /// Number of zeros accepted after the last member. gzip accepts them too: files from tapes and archives have them.
  static constexpr std::size_t most_padding = std::size_t{1} << 20;

  void next_member() {
    std::size_t padding = 0;
    for (feed(); stream_.avail_in != 0 && *stream_.next_in == 0; feed()) {
      ++stream_.next_in;
      --stream_.avail_in;
      if (++padding > most_padding) fail({"has more than 1 MiB of zeros after its gzip stream. Copy it again."});
    }
    if (stream_.avail_in == 0) {
      ended_ = true;
      return;
    }
    if (padding != 0 || *stream_.next_in != 0x1f) {
      const std::uint64_t bytes = padding + stream_.avail_in + compressed_.remaining().count;
      fail({"has ", compressed_.remaining().exact ? joined({bytes, byte_word(bytes)}) : "other bytes",
            " after its gzip stream. Copy it again."});
    }
    if (inflateReset(&stream_) != Z_OK) fail({"cannot be decompressed: ", reason(), "."});
  }
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
