// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/place/error.hpp>

namespace devplace::detail {

struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, file_closer>;

/// The path in quotes, as in every message about a file. (Not named `quoted`: ADL would find std::quoted for strings.)
inline std::string in_quotes(std::string_view path) {
  std::string text = "'";  // not "'" + std::string(path): g++ 12 gives a false -Wrestrict warning
  text += path;
  text += '\'';
  return text;
}

/// "1 byte", "12 bytes".
inline std::string bytes_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

/// Reads an open file to its end. `operation` and `path` appear in the message of a failure.
inline std::vector<unsigned char> read_all(std::FILE* file, std::string_view operation, const std::string& path) {
  // The size is only a hint: it is 0 for what cannot be positioned (a pipe), and the file may grow meanwhile.
  std::size_t expected = 0;
  if (std::fseek(file, 0, SEEK_END) == 0) {
    if (const long end = std::ftell(file); end > 0 && end < 0x7fff'ffff'ffff'f000L)
      expected = static_cast<std::size_t>(end);
    std::rewind(file);
  }
  std::vector<unsigned char> bytes(expected + 1);  // one byte more, so that the first read already finds the end
  std::size_t used = 0;
  for (;;) {
    errno = 0;
    const std::size_t got = std::fread(bytes.data() + used, 1, bytes.size() - used, file);
    const int reason = errno;
    used += got;
    if (used < bytes.size()) {
      if (std::ferror(file) != 0)
        throw file_error(std::string(operation) + ": " + in_quotes(path) + " cannot be read: " + std::strerror(reason) +
                         ". Give the path of a readable file.");
      break;
    }
    bytes.resize(bytes.size() * 2);
  }
  bytes.resize(used);
  return bytes;
}

/// The contents of the file at `path`. Throws file_error with the reason if it cannot be opened or read.
inline std::vector<unsigned char> read_file(const std::string& path, std::string_view operation) {
  const file_handle file{std::fopen(path.c_str(), "rb")};
  if (file == nullptr)
    throw file_error(std::string(operation) + ": " + in_quotes(path) + " cannot be opened: " + std::strerror(errno) +
                     ". Check the path and its permissions.");
  return read_all(file.get(), operation, path);
}

/// Writes a file under a temporary name in its destination's folder and renames it when it is complete: a reader sees
/// the old file or the new one, never a part. Without commit() the temporary file is removed and the old one is kept.
class file_written_aside {
 public:
  file_written_aside(std::string path, std::string operation)
      : path_(std::move(path)), operation_(std::move(operation)) {
    // Exclusive creation ("x") keeps concurrent writers of one path apart, within a process and between processes.
    for (int attempt = 0; file_ == nullptr; ++attempt) {
      aside_ = path_ + ".partial" + (attempt == 0 ? std::string() : std::to_string(attempt));
      file_.reset(std::fopen(aside_.c_str(), "wbx"));
      const int reason = errno;
      if (file_ == nullptr && (reason != EEXIST || attempt == 99)) {
        std::string message = operation_ + ": " + in_quotes(aside_) + " cannot be created: " + std::strerror(reason);
        message += reason == EEXIST ? ". Remove the unfinished files of that name beside it."
                                    : ". Check that the folder exists and is writable.";
        throw file_error(message);
      }
    }
  }

  file_written_aside(const file_written_aside&) = delete;
  file_written_aside& operator=(const file_written_aside&) = delete;

  ~file_written_aside() {
    if (committed_) return;
    file_.reset();
    std::remove(aside_.c_str());
  }

  void write(const void* data, std::size_t bytes) {
    if (bytes != 0 && std::fwrite(data, 1, bytes, file_.get()) != bytes) fail("cannot be written", errno);
  }

  /// Flushes, closes and renames to the destination.
  void commit() {
    if (std::fclose(file_.release()) != 0) fail("cannot be written", errno);
    if (std::rename(aside_.c_str(), path_.c_str()) != 0) fail("cannot be renamed to its final name", errno);
    committed_ = true;
  }

 private:
  [[noreturn]] void fail(const char* what, int reason) const {
    throw file_error(operation_ + ": " + in_quotes(aside_) + " " + what + ": " + std::strerror(reason) + ". " +
                     in_quotes(path_) + " was left as it was; free space or choose another path.");
  }

  std::string path_;
  std::string operation_;
  std::string aside_;
  file_handle file_;
  bool committed_ = false;
};

}  // namespace devplace::detail
