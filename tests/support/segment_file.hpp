// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace support {

/// Returns a name that is unique among the test cases, which run concurrently.
inline std::string segment_name(const std::string& what) { return "test." + std::to_string(::getpid()) + "." + what; }

/// Returns the path of the shared memory with this name.
inline std::string segment_path_of(const std::string& name, ::uid_t user = ::geteuid()) {
  return "/dev/shm/devplace." + std::to_string(user) + "." + name;
}

/// The beginning of a shared memory file; the description follows.
struct segment_head {
  std::uint64_t magic, total_bytes, data_begin, text_bytes;
  std::int64_t process;
  std::uint64_t extents[8];
};

/// The file of a named shared memory, which a test changes behind the library's back.
class segment_file {
 public:
  explicit segment_file(const std::string& name) : file_(::open(segment_path_of(name).c_str(), O_RDWR | O_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("there is no shared memory " + name);
  }
  segment_file(const segment_file&) = delete;
  segment_file& operator=(const segment_file&) = delete;
  ~segment_file() { ::close(file_); }

  std::size_t bytes() const {
    struct ::stat found = {};
    ::fstat(file_, &found);
    return static_cast<std::size_t>(found.st_size);
  }
  std::vector<char> read(std::size_t bytes) const {
    std::vector<char> result(bytes);
    if (::pread(file_, result.data(), bytes, 0) != static_cast<::ssize_t>(bytes)) throw std::runtime_error("pread");
    return result;
  }
  void write(const void* from, std::size_t bytes, std::size_t at = 0) const {
    if (::pwrite(file_, from, bytes, static_cast<::off_t>(at)) != static_cast<::ssize_t>(bytes))
      throw std::runtime_error("pwrite");
  }
  void resize(std::size_t bytes) const {
    if (::ftruncate(file_, static_cast<::off_t>(bytes)) != 0) throw std::runtime_error("ftruncate");
  }

  segment_head head() const {
    segment_head result;
    std::memcpy(&result, read(sizeof result).data(), sizeof result);
    return result;
  }
  void set_head(const segment_head& head) const { write(&head, sizeof head); }
  std::string text() const {
    const std::vector<char> begin = read(sizeof(segment_head) + static_cast<std::size_t>(head().text_bytes));
    return {begin.begin() + sizeof(segment_head), begin.end()};
  }
  void set_text(const std::string& text) const { write(text.data(), text.size(), sizeof(segment_head)); }

 private:
  int file_;
};

}  // namespace support
