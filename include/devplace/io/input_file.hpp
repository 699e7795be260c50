// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include <devplace/base/error.hpp>
#include <devplace/base/file_descriptor.hpp>
#include <devplace/io/file_text.hpp>

namespace devplace::detail {

/// A sequence of bytes that is read once, such as a file or a decompressed file.
class byte_source {
 public:
  /// The number of bytes that follow, or an upper bound.
  struct remaining_bytes {
    std::uint64_t count;
    bool exact;  ///< whether exactly `count` bytes follow
  };

  byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;

  /// Reads the next `bytes` bytes, fewer only at the end; returns their number. Throws file_error.
  virtual std::size_t read(void* to, std::size_t bytes) = 0;

  /// Returns the number of remaining bytes, without reading them.
  virtual remaining_bytes remaining() const = 0;

 protected:
  ~byte_source() = default;
};

/// A file open for reading. `operation` and `path` appear in messages.
class input_file final : public byte_source {
 public:
  /// Opens the file. `any_size`: the program accepts any size, so the file must be a regular file: a pipe or a device
  /// such as /dev/zero has no limit. Throws file_error.
  input_file(std::string path, std::string_view operation, bool any_size)
      : path_(std::move(path)), operation_(operation) {
    struct stat status;
    // Checks before open(), which would wait for the other end of a pipe. For a folder, reading fails.
    if (any_size && ::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
      throw file_error({operation_, ": ", in_quotes(path_),
                        " is a pipe, a device or a socket, and nothing limits how much is read from it. Copy it "
                        "to a file first; if all extents are static, an array can be read from a pipe."});
    do {
      file_ = file_descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    } while (!file_ && errno == EINTR);
    if (!file_)
      throw file_error({operation_, ": ", in_quotes(path_), " cannot be opened: ", std::strerror(errno),
                        ". Check the path and its permissions."});
    if (::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode))
      rest_ = {static_cast<std::uint64_t>(status.st_size), true};
  }

  std::size_t read(void* to, std::size_t bytes) override {
    const std::size_t used =
        repeated(to, bytes, [&](char* at, std::size_t left, std::size_t) { return ::read(file_.get(), at, left); });
    if (rest_.exact) rest_.count -= std::min<std::uint64_t>(rest_.count, used);
    return used;
  }

  /// Reads `bytes` bytes of a regular file at `offset`, fewer only at its end; returns their number. Does not move the
  /// position of read(). Threads may call it concurrently. Throws file_error.
  std::size_t read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
    return repeated(to, bytes, [&](char* at, std::size_t left, std::size_t used) {
      return ::pread(file_.get(), at, left, static_cast<off_t>(offset + used));
    });
  }

  remaining_bytes remaining() const override { return rest_; }

  /// Whether a file, a folder or anything else has this path.
  static bool exists(const std::string& path) {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 || errno != ENOENT;
  }

 private:
  /// Calls `read_some(to, bytes left, bytes read)` until all bytes are read or the file ends.
  template <class ReadSome> std::size_t repeated(void* to, std::size_t bytes, ReadSome&& read_some) const {
    std::size_t used = 0;
    while (used < bytes) {
      const ssize_t got = read_some(static_cast<char*>(to) + used, bytes - used, used);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0)
        throw file_error({operation_, ": ", in_quotes(path_), " cannot be read: ", std::strerror(errno),
                          ". Give the path of a readable file."});
      if (got == 0) break;
      used += static_cast<std::size_t>(got);
    }
    return used;
  }

  std::string path_;
  std::string operation_;
  file_descriptor file_;
  remaining_bytes rest_ = {std::numeric_limits<std::uint64_t>::max(), false};
};

}  // namespace devplace::detail
