// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/file_descriptor.hpp>
#include <devplace/io/file_text.hpp>

namespace devplace::detail {

/// Syncs a file to the disk. Returns true even if the file system cannot sync.
inline bool synced_to_disk(int file) {
  while (::fsync(file) != 0)
    if (errno != EINTR) return errno == EINVAL || errno == ENOTSUP;
  return true;
}

/// Syncs a folder and the names in it; on failure errno has the reason. Skips a folder without read permission, which
/// cannot be opened.
inline bool folder_synced_to_disk(const char* path) {
  const file_descriptor folder(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return !folder || synced_to_disk(folder.get());
}

/// Writes a file under a temporary name in its destination's folder and renames it when it is complete and on the disk.
/// Readers see the old file or the new one, never a part, even after a power failure. Keeps the old file's mode and
/// follows a symbolic link. Without commit() the unfinished file is removed and the old file is kept. The writer locks
/// its unfinished file. The next writer of the path removes unfinished files that are not locked: programs that ended
/// have left them.
class output_file {
 public:
  output_file(std::string path, std::string operation) : path_(std::move(path)), operation_(std::move(operation)) {
    struct stat old;
    if (::lstat(path_.c_str(), &old) == 0 && S_ISLNK(old.st_mode)) follow_link();
    mode_t mode = 0666;  // less the umask
    const bool replaces = ::stat(path_.c_str(), &old) == 0;
    if (replaces) {
      if (!S_ISREG(old.st_mode))
        fail("is a folder, a pipe or a device, which is not replaced by a file. Give the path of a file.");
      mode = old.st_mode & 07777;
    }
    create(mode);
    if (replaces && ::fchmod(file_.get(), mode) != 0) {
      const int reason = errno;
      discard();
      fail_unchanged("cannot be given the old file's mode", reason);
    }
  }

  output_file& operator=(output_file&&) = delete;

  ~output_file() {
    if (file_) discard();
  }

  void write(const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(file_.get(), from, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_unchanged("cannot be written", errno);
      from += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }

  /// Syncs the file, renames it to its destination and syncs the folder.
  void commit() {
    if (!synced_to_disk(file_.get())) fail_unchanged("cannot be written", errno);
    if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0)
      fail_unchanged("cannot be renamed to its final name", errno);
    file_ = {};
    if (!folder_synced_to_disk(folder_.c_str()))
      fail(joined({"was written, but its folder cannot be synced to the disk: ", std::strerror(errno),
                   ". Write it again, or check the disk."}));
  }

 private:
  /// Largest number of concurrent writers of one path.
  static constexpr int most_writers = 32;

  void follow_link() {
    char* const target = ::realpath(path_.c_str(), nullptr);
    if (target == nullptr)
      fail(joined({"is a symbolic link that cannot be followed: ", std::strerror(errno), ". Remove the link."}));
    path_ = target;
    std::free(target);
  }

  /// Creates and locks the unfinished file.
  void create(mode_t mode) {
    const std::size_t slash = path_.rfind('/');
    std::string name = path_.substr(slash + 1);  // npos + 1 is 0
    folder_ = slash == std::string::npos ? "./" : path_.substr(0, slash + 1);
    if (name.size() > 220) name = std::to_string(std::hash<std::string_view>{}(name));  // names have at most 255 bytes
    const auto numbered = [&](int number) { return joined({folder_, name, ".devplace-unfinished-", number}); };
    for (int number = 0; number < most_writers; ++number) remove_left_over(numbered(number).c_str());
    for (int number = 0; number < most_writers; ++number) {
      temporary_path_ = numbered(number);
      file_ = file_descriptor(::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
      if (!file_ && errno == EEXIST) continue;
      if (!file_) fail_unchanged("cannot be created", errno);
      // Another writer may remove the file before this lock. File systems without locks give another error.
      const bool locked = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
      struct stat status;
      if (locked && ::fstat(file_.get(), &status) == 0 && status.st_nlink != 0) return;
      file_ = {};
    }
    fail(joined({"is being written by ", most_writers, " other writers. Write it from one thread."}));
  }

  /// Removes an unfinished file that no writer holds.
  static void remove_left_over(const char* name) {
    const file_descriptor file(::open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) return;
    struct stat opened, named;
    // Meanwhile, the opened file may have been renamed to its destination, and the name may refer to another file.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(file.get(), &opened) == 0 && S_ISREG(opened.st_mode) &&
        ::lstat(name, &named) == 0 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
      ::unlink(name);
  }

  void discard() {
    ::unlink(temporary_path_.c_str());
    file_ = {};
  }

  [[noreturn]] void fail(const std::string& found) const {
    throw file_error({operation_, ": ", in_quotes(path_), " ", found});
  }

  [[noreturn]] void fail_unchanged(const char* problem, int reason) const {
    throw file_error(
        {operation_, ": ", in_quotes(temporary_path_), " ", problem, ": ", std::strerror(reason), ". ",
         in_quotes(path_),
         " is unchanged; free space, check that its folder exists and is writable, or choose another path."});
  }

  std::string path_;
  std::string operation_;
  std::string folder_;
  std::string temporary_path_;
  file_descriptor file_;
};

}  // namespace devplace::detail
