// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <zlib.h>

#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/place/error.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Continues the CRC-32 of zip files with more bytes.
inline std::uint32_t zip_checksum(std::uint32_t before, const void* bytes, std::size_t count) {
  return static_cast<std::uint32_t>(::crc32_z(before, static_cast<const Bytef*>(bytes), count));
}

/// Decompresses a member of a zip file while it is read: a stream of deflate alone, without header and checksum.
class deflate_reader final : public byte_source {
 public:
  /// `compressed`, `operation` and `name`, which appear in messages, must outlive the reader.
  deflate_reader(byte_source& compressed, std::string_view operation, std::string_view name)
      : compressed_(compressed), operation_(operation), name_(name) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) fail_for_memory();
  }
  ~deflate_reader() { inflateEnd(&stream_); }

  /// Fewer bytes only behind the end of the stream. Throws file_error for a damaged stream and for one without an end.
  std::size_t read(void* to, std::size_t bytes) override {
    constexpr std::size_t part = std::size_t{1} << 30;  // zlib counts in 32 bits
    std::size_t used = 0;
    while (used < bytes && !ended_) {
      if (stream_.avail_in == 0) {
        stream_.next_in = input_.data();
        stream_.avail_in = static_cast<uInt>(compressed_.read(input_.data(), input_.size()));
      }
      const std::size_t room = std::min(bytes - used, part);
      stream_.next_out = static_cast<Bytef*>(to) + used;
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      used += room - stream_.avail_out;
      if (status == Z_MEM_ERROR) fail_for_memory();
      if (status == Z_BUF_ERROR) fail("ends inside its compressed data. Copy it again.");
      if (status != Z_OK && status != Z_STREAM_END)
        fail(std::string("is damaged: ") + (stream_.msg != nullptr ? stream_.msg : "unknown data") +
             ". Copy it again.");
      ended_ = status == Z_STREAM_END;
    }
    return used;
  }

  rest following() const override { return {std::numeric_limits<std::uint64_t>::max(), false}; }

 private:
  [[noreturn]] void fail(const std::string& found) const {
    throw file_error(std::string(operation_) + ": " + in_quotes(name_) + " " + found);
  }
  [[noreturn]] void fail_for_memory() const {
    throw out_of_memory(std::string(operation_) + ": zlib found no memory to decompress " + in_quotes(name_) +
                        ". Free some, or save it without compression, by np.savez.");
  }

  z_stream stream_{};  // zlib keeps its address
  byte_source& compressed_;
  std::string_view operation_;
  std::string_view name_;
  bool ended_ = false;
  std::array<unsigned char, std::size_t{1} << 15> input_;
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
