// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

#include <devplace/config.hpp>
#include <devplace/io/file.hpp>
#include <devplace/place/error.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Decompresses a gzip file held in memory piece by piece, so that the caller limits how much is decompressed.
class gzip_reader {
 public:
  /// `operation` and `name` appear in messages and must outlive the reader.
  gzip_reader(std::span<const unsigned char> compressed, std::string_view operation, std::string_view name)
      : rest_(compressed), operation_(operation), name_(name) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc();
  }

  gzip_reader(const gzip_reader&) = delete;  // zlib keeps the stream's address
  gzip_reader& operator=(const gzip_reader&) = delete;

  ~gzip_reader() { inflateEnd(&stream_); }

  /// Appends `wanted` bytes to `out`, or fewer if the file ends there, complete and with the right checksum.
  void read(std::vector<unsigned char>& out, std::size_t wanted) {
    constexpr std::size_t piece = std::size_t{1} << 18;
    while (wanted > 0 && !ended_) {
      feed();
      const std::size_t before = out.size();
      const std::size_t room = std::min(wanted, piece);
      out.resize(before + room);
      stream_.next_out = out.data() + before;
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t produced = room - stream_.avail_out;
      out.resize(before + produced);
      wanted -= produced;
      if (status == Z_STREAM_END)
        next_member();
      else if (status == Z_MEM_ERROR)
        throw std::bad_alloc();
      else if (status == Z_BUF_ERROR)
        fail("ends inside its gzip stream. Copy it again.");
      else if (status != Z_OK)
        fail("is a damaged gzip file: " + reason() + ". Copy it again.");
    }
  }

 private:
  /// zlib counts in 32 bits, so a large file is passed in parts.
  void feed() {
    constexpr std::size_t part = std::size_t{1} << 30;
    if (stream_.avail_in != 0 || rest_.empty()) return;
    const std::size_t size = std::min(rest_.size(), part);
    stream_.next_in = const_cast<Bytef*>(rest_.data());  // zlib's field is not const; inflate only reads
    stream_.avail_in = static_cast<uInt>(size);
    rest_ = rest_.subspan(size);
  }

  /// A gzip file may consist of several members, one after the other.
  void next_member() {
    feed();
    if (stream_.avail_in == 0) {
      ended_ = true;
      return;
    }
    if (*stream_.next_in != 0x1f)
      fail("has " + bytes_text(stream_.avail_in + rest_.size()) + " after its gzip stream. Copy it again.");
    if (inflateReset(&stream_) != Z_OK) fail("cannot be decompressed: " + reason() + ".");
  }

  std::string reason() const { return stream_.msg != nullptr ? stream_.msg : "unknown data"; }

  [[noreturn]] void fail(const std::string& found) const {
    throw file_error(std::string(operation_) + ": " + in_quotes(name_) + " " + found);
  }

  z_stream stream_{};
  std::span<const unsigned char> rest_;
  std::string_view operation_;
  std::string_view name_;
  bool ended_ = false;
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
