// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include <zlib.h>

#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/place/error.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Decompresses a gzip file while it is read.
class gzip_reader final : public byte_source {
 public:
  /// `begun`: the bytes that were read from `compressed` already, at most 16. `compressed`, `operation` and `name`,
  /// which appear in messages, must outlive the reader.
  gzip_reader(byte_source& compressed, std::span<const unsigned char> begun, std::string_view operation,
              std::string_view name)
      : compressed_(compressed), operation_(operation), name_(name) {
    std::copy(begun.begin(), begun.end(), input_.begin());
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(begun.size());
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) fail_for_memory();
  }

  ~gzip_reader() { inflateEnd(&stream_); }

  /// At the end, the stream is complete and has the right checksum.
  std::size_t read(void* to, std::size_t bytes) override {
    constexpr std::size_t part = std::size_t{1} << 30;  // zlib counts in 32 bits
    std::size_t used = 0;
    while (used < bytes && !ended_) {
      feed();
      const std::size_t room = std::min(bytes - used, part);
      stream_.next_out = static_cast<Bytef*>(to) + used;
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      used += room - stream_.avail_out;
      if (status == Z_STREAM_END)
        next_member();
      else if (status == Z_MEM_ERROR)
        fail_for_memory();
      else if (status == Z_BUF_ERROR)
        fail("ends inside its gzip stream. Copy it again.");
      else if (status != Z_OK)
        fail("is a damaged gzip file: " + reason() + ". Copy it again.");
    }
    return used;
  }

  /// Deflate makes at most 1032 bytes of one.
  rest following() const override {
    const rest compressed = compressed_.following();
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() / 1032 - (std::uint64_t{1} << 20);
    return {(std::min(compressed.most, largest) + stream_.avail_in + window_bytes) * 1032, false};
  }

 private:
  /// zlib may hold back as much as its window.
  static constexpr std::uint64_t window_bytes = std::uint64_t{1} << 15;
  /// Zeros are accepted after the last member, as by gzip, because files from tapes and archives have them.
  static constexpr std::size_t most_padding = std::size_t{1} << 20;

  void feed() {
    if (stream_.avail_in != 0) return;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(compressed_.read(input_.data(), input_.size()));
  }

  /// A gzip file may consist of several members, one after the other.
  void next_member() {
    std::size_t padding = 0;
    for (feed(); stream_.avail_in != 0 && *stream_.next_in == 0; feed()) {
      ++stream_.next_in;
      --stream_.avail_in;
      if (++padding > most_padding) fail("has more than 1 MiB of zeros after its gzip stream. Copy it again.");
    }
    if (stream_.avail_in == 0) {
      ended_ = true;
      return;
    }
    if (padding != 0 || *stream_.next_in != 0x1f) {
      const std::uint64_t bytes = padding + stream_.avail_in + compressed_.following().most;
      fail("has " + (compressed_.following().exact ? bytes_text(bytes) : "other bytes") +
           " after its gzip stream. Copy it again.");
    }
    if (inflateReset(&stream_) != Z_OK) fail("cannot be decompressed: " + reason() + ".");
  }

  std::string reason() const { return stream_.msg != nullptr ? stream_.msg : "unknown data"; }

  [[noreturn]] void fail(const std::string& found) const {
    throw file_error(std::string(operation_) + ": " + in_quotes(name_) + " " + found);
  }

  [[noreturn]] void fail_for_memory() const {
    throw out_of_memory(std::string(operation_) + ": zlib found no memory to decompress " + in_quotes(name_) +
                        ". Free some, or decompress the file with gunzip.");
  }

  z_stream stream_{};  // zlib keeps its address
  byte_source& compressed_;
  std::string_view operation_;
  std::string_view name_;
  bool ended_ = false;
  std::array<unsigned char, std::size_t{1} << 15> input_;
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
