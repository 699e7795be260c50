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

#include <devplace/base/error.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Base of the readers of gzip files and of members of zip files: decompresses bytes of a source while it is read.
class inflate_reader : public byte_source {
 public:
  /// Reads fewer bytes only at the end; the streams are then complete. Throws file_error for damaged or truncated ones.
  std::size_t read(void* to, std::size_t bytes) override {
    std::size_t used = 0;
    while (used < bytes && !ended_) {
      feed();
      const std::size_t room = std::min(bytes - used, std::size_t{1} << 30);  // zlib counts in 32 bits
      stream_.next_out = static_cast<Bytef*>(to) + used;
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      used += room - stream_.avail_out;
      if (status == Z_MEM_ERROR) fail_for_memory();
      if (status != Z_OK && status != Z_STREAM_END) refuse(status == Z_BUF_ERROR);
      ended_ = status == Z_STREAM_END && !begins_again();
    }
    return used;
  }

 protected:
  /// `compressed` and the texts, which appear in messages, must outlive the reader. `window` is inflateInit2's
  /// argument; `remedy` is the advice when memory is exhausted.
  inflate_reader(byte_source& compressed, int window, const file_origin& from, std::string_view remedy)
      : compressed_(compressed), from_(from), remedy_(remedy) {
    if (inflateInit2(&stream_, window) != Z_OK) fail_for_memory();
  }
  ~inflate_reader() { inflateEnd(&stream_); }

  /// Called at the end of a stream: prepares for another one, or returns false if none follows.
  virtual bool begins_again() { return false; }
  /// Throws file_error for a stream that ends too early or is damaged.
  [[noreturn]] virtual void refuse(bool truncated) const = 0;

  void feed() {
    if (stream_.avail_in != 0) return;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(compressed_.read(input_.data(), input_.size()));
  }

  std::string reason() const { return stream_.msg != nullptr ? stream_.msg : "unknown data"; }

  [[noreturn]] void fail(std::initializer_list<text_part> found) const { fail_read(from_, found); }

  z_stream stream_{};  // zlib keeps its address
  byte_source& compressed_;
  std::array<unsigned char, std::size_t{1} << 15> input_;

 private:
  [[noreturn]] void fail_for_memory() const {
    throw out_of_memory(
        {from_.operation, ": zlib found no memory to decompress ", in_quotes(from_.name), ". Free some, or ", remedy_});
  }

  file_origin from_;
  std::string_view remedy_;
  bool ended_ = false;
};

/// Decompresses a gzip file, and checks its checksums.
class gzip_reader final : public inflate_reader {
 public:
  /// `begun` has the bytes that were already read from `compressed`, at most 16. `compressed` and the texts, which
  /// appear in messages, must outlive the reader.
  gzip_reader(byte_source& compressed, std::span<const unsigned char> begun, const file_origin& from)
      : inflate_reader(compressed, gzip_only, from, "decompress the file with gunzip.") {
    std::copy(begun.begin(), begun.end(), input_.begin());
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(begun.size());
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

  bool begins_again() override {
    std::size_t padding = 0;
    for (feed(); stream_.avail_in != 0 && *stream_.next_in == 0; feed()) {
      ++stream_.next_in;
      --stream_.avail_in;
      if (++padding > most_padding) fail({"has more than 1 MiB of zeros after its gzip stream. Copy it again."});
    }
    if (stream_.avail_in == 0) return false;
    if (padding != 0 || *stream_.next_in != 0x1f) {
      const std::uint64_t bytes = padding + stream_.avail_in + compressed_.remaining().count;
      fail({"has ", compressed_.remaining().exact ? joined({bytes, byte_word(bytes)}) : "other bytes",
            " after its gzip stream. Copy it again."});
    }
    if (inflateReset(&stream_) != Z_OK) fail({"cannot be decompressed: ", reason(), "."});
    return true;
  }
  [[noreturn]] void refuse(bool truncated) const override {
    if (truncated) fail({"ends inside its gzip stream. Copy it again."});
    fail({"is a damaged gzip file: ", reason(), ". Copy it again."});
  }
};

/// Continues the CRC-32 of zip files with more bytes.
inline std::uint32_t zip_checksum(std::uint32_t before, const void* bytes, std::size_t count) {
  return static_cast<std::uint32_t>(::crc32_z(before, static_cast<const Bytef*>(bytes), count));
}

/// Decompresses a member of a zip file: a raw deflate stream, without header and checksum.
class deflate_reader final : public inflate_reader {
 public:
  /// `compressed` and the texts, which appear in messages, must outlive the reader.
  deflate_reader(byte_source& compressed, const file_origin& from)
      : inflate_reader(compressed, -MAX_WBITS, from, "save it without compression, by np.savez.") {}

  remaining_bytes remaining() const override { return {std::numeric_limits<std::uint64_t>::max(), false}; }

 private:
  [[noreturn]] void refuse(bool truncated) const override {
    if (truncated) fail({"ends inside its compressed data. Copy it again."});
    fail({"is damaged: ", reason(), ". Copy it again."});
  }
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
