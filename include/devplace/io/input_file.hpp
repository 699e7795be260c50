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

#include <devplace/base/file_descriptor.hpp>
#include <devplace/config.hpp>
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

  byte_source& operator=(byte_source&&) = delete;

  /// Reads the next `bytes` bytes, fewer only at the end; returns their number. Throws file_error.
  virtual std::size_t read(void* to, std::size_t bytes) = 0;

  /// Returns the number of remaining bytes, without reading them.
  virtual remaining_bytes remaining() const = 0;

 protected:
  ~byte_source() = default;
};

/// A file open for reading. `operation` and `path` appear in messages; `operation` must outlive the file.
class input_file final : public byte_source {
 public:
  /// Opens the file. `any_size`: the program accepts any size, so the file must be a regular file: a pipe or a device
  /// such as /dev/zero has no limit. Throws file_error.
  input_file(std::string path, std::string_view operation, bool any_size)
      : path_(std::move(path)), operation_(operation) {
    open(any_size);
  }

  std::size_t read(void* to, std::size_t bytes) override {
    const std::size_t used = read_from(-1, to, bytes);
    if (rest_.exact) rest_.count -= std::min<std::uint64_t>(rest_.count, used);
    return used;
  }

  /// Reads `bytes` bytes of a regular file at `offset`, fewer only at its end; returns their number. Does not move the
  /// position of read(). Threads may call it concurrently. Throws file_error.
  std::size_t read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
    return read_from(static_cast<off_t>(offset), to, bytes);
  }

  remaining_bytes remaining() const override { return rest_; }

  const std::string& path() const { return path_; }

  /// Whether a file, a folder or anything else has this path.
  static bool exists(const std::string& path) {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 || errno != ENOENT;
  }

 private:
  DEVPLACE_COMPILABLE([[DEVPLACE_FOR_SIZE]]) void open(bool any_size) {
    struct stat status;
    // Checks before open(), which would wait for the other end of a pipe. For a folder, reading fails.
    if (any_size && ::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
      fail_file(operation_, path_,
                {"is a pipe, a device or a socket, and nothing limits how much is read from it. Copy it "
                 "to a file first; if all extents are static, an array can be read from a pipe."});
    do {
      file_ = file_descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    } while (!file_ && errno == EINTR);
    if (!file_)
      fail_file(operation_, path_,
                {"cannot be opened: ", std::strerror(errno), ". Check the path and its permissions."});
    if (::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode))
      rest_ = {static_cast<std::uint64_t>(status.st_size), true};
  }

  /// Reads at `offset`, or at the file's position if `offset` is -1, until all bytes are read or the file ends.
  DEVPLACE_COMPILABLE([[gnu::noinline]]) std::size_t read_from(off_t offset, void* to, std::size_t bytes) const {
    const int file = file_.get();
    std::size_t used = 0;
    while (used < bytes) {
      char* const at = static_cast<char*>(to) + used;
      const ssize_t got = offset == -1 ? ::read(file, at, bytes - used)
                                       : ::pread(file, at, bytes - used, offset + static_cast<off_t>(used));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0)
        fail_file(operation_, path_, {"cannot be read: ", std::strerror(errno), ". Give the path of a readable file."});
      if (got == 0) break;
      used += static_cast<std::size_t>(got);
    }
    return used;
  }

  std::string path_;
  std::string_view operation_;
  file_descriptor file_;
  remaining_bytes rest_ = {std::numeric_limits<std::uint64_t>::max(), false};
};
DEVPLACE_COMPILED(void input_file::open(bool))
DEVPLACE_COMPILED(std::size_t input_file::read_from(off_t, void*, std::size_t) const)

/// Returns the contents of a regular file. Throws file_error.
inline std::string text_of_file(const std::string& path, std::string_view operation) {
  input_file file(path, operation, true);
  if (!file.remaining().exact) fail_file(operation, path, {"is a folder, and not a file. Check the path."});
  std::string text(static_cast<std::size_t>(file.remaining().count), '\0');
  text.resize(file.read(text.data(), text.size()));
  return text;
}

}  // namespace devplace::detail
