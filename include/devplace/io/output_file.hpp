// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <devplace/io/file_text.hpp>
#include <devplace/place/error.hpp>

namespace devplace::detail {

struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, file_closer>;

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
