// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <zlib.h>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Base of the readers of gzip files and of members of zip files: a zlib stream that reads compressed bytes from a
/// source.
class inflate_reader : public byte_source {
 protected:
  /// `compressed` and the texts, which appear in messages, must outlive the reader. `window` is inflateInit2's
  /// argument; `remedy` is the advice when memory is exhausted.
  inflate_reader(byte_source& compressed, int window, std::string_view operation, std::string_view name,
                 std::string_view remedy)
      : compressed_(compressed), operation_(operation), name_(name), remedy_(remedy) {
    if (inflateInit2(&stream_, window) != Z_OK) fail_for_memory();
  }
  ~inflate_reader() { inflateEnd(&stream_); }

  void feed() {
    if (stream_.avail_in != 0) return;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(compressed_.read(input_.data(), input_.size()));
  }

  /// Decompresses into `to`, which has `bytes` bytes, after its first `used` bytes; adds the number of new bytes to
  /// `used`. Returns zlib's status; throws out_of_memory.
  int decompress(void* to, std::size_t bytes, std::size_t& used) {
    feed();
    const std::size_t room = std::min(bytes - used, std::size_t{1} << 30);  // zlib counts in 32 bits
    stream_.next_out = static_cast<Bytef*>(to) + used;
    stream_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    used += room - stream_.avail_out;
    if (status == Z_MEM_ERROR) fail_for_memory();
    return status;
  }

  std::string reason() const { return stream_.msg != nullptr ? stream_.msg : "unknown data"; }

  [[noreturn]] void fail(std::initializer_list<text_part> found) const { fail_file(operation_, name_, found); }

  z_stream stream_{};  // zlib keeps its address
  byte_source& compressed_;
  std::array<unsigned char, std::size_t{1} << 15> input_;
  bool ended_ = false;

 private:
  [[noreturn]] void fail_for_memory() const {
    throw out_of_memory(
        {operation_, ": zlib found no memory to decompress ", in_quotes(name_), ". Free some, or ", remedy_});
  }

  std::string_view operation_;
  std::string_view name_;
  std::string_view remedy_;
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
