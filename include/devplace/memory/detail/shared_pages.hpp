// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <devplace/base/error.hpp>
#include <devplace/base/file_descriptor.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>
#include <devplace/place/device_info.hpp>

namespace devplace::detail {

inline std::string system_error_text(int number = errno) { return std::generic_category().message(number); }

/// Throws out_of_memory for shared memory. `limit` names the exhausted resource, and `remedy` the fix.
[[noreturn]] inline void throw_no_shared_memory(std::size_t bytes, const std::string& limit,
                                                const std::string& remedy) {
  throw out_of_memory(out_of_memory_text(
      {devplace::place_name<shared_memory>(), bytes, memory_statistics<shared_memory>(), limit, {}, remedy}));
}

/// Throws out_of_memory if the machine has less than `bytes` free: otherwise, the system would hand out pages of shared
/// memory until it must kill a process.
inline void require_free_pages(std::size_t bytes) {
  if (bytes < (std::size_t{16} << 20)) return;
  const std::size_t free = host_memory_free();
  if (bytes > free)
    throw_no_shared_memory(bytes, joined({"the machine has ", free, " bytes left for all programs"}),
                           "Share less, or free memory (see free -h)");
}

/// Sets the size of a file of shared memory and allocates its pages. A page without memory at its first access would
/// raise SIGBUS. Returns 0 or the error's number.
inline int take_pages(int descriptor, std::size_t bytes) noexcept {
  if (::ftruncate(descriptor, static_cast<::off_t>(bytes)) != 0) return errno;
  int result = 0;
  do result = ::posix_fallocate(descriptor, 0, static_cast<::off_t>(bytes));
  while (result == EINTR);
  return result;
}

/// Maps a file of shared memory into this process; null on failure.
inline void* map_pages(int descriptor, std::size_t bytes) noexcept {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return at == MAP_FAILED ? nullptr : at;
}

/// The folder of POSIX shared memory on Linux: shm_open("/name") opens the file `name` in this folder.
inline constexpr const char* segment_folder = "/dev/shm";

/// The beginning of the file names of this user's segments.
inline std::string segment_prefix() { return joined({"devplace.", ::geteuid(), "."}); }

/// The file of a segment. Throws argument_error for an invalid name.
inline std::string segment_path(std::string_view name, const char* caller) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (name.empty() || name.size() > 200 || name.find_first_not_of(allowed) != name.npos)
    throw argument_error(
        {caller, ": \"", name, "\" is not a name of shared memory; use 1 to 200 letters, digits, '_', '-' and '.'."});
  return joined({segment_folder, "/", segment_prefix(), name});
}

/// Locks a segment's file. Every process that has the segment holds a shared lock. The kernel releases the lock when
/// the process and the children that inherited its memory by fork have ended, even by kill -9.
inline bool lock_file(int descriptor, int operation) noexcept {
  int result = 0;
  do result = ::flock(descriptor, operation);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

/// Waits at most two seconds for a shared lock: devplace locks a file exclusively while removing it, but any program of
/// this user can hold the lock for ever. Sets errno on failure.
inline bool share_lock(int descriptor) noexcept {
  for (int attempts = 0; !lock_file(descriptor, LOCK_SH | LOCK_NB); ::usleep(1000))
    if (errno != EWOULDBLOCK || ++attempts == 2000) return false;
  return true;
}

/// Opens the file of a segment. Neither follows a link nor waits for the other end of a pipe. `found` describes the
/// file even if it cannot be opened; `found.st_mode` is 0 if there is no file. Returns -1 and sets errno on failure.
inline int open_segment_file(const std::string& path, struct ::stat& found) noexcept {
  found = {};
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  const int failed = errno;
  static_cast<void>(opened < 0 ? ::lstat(path.c_str(), &found) : ::fstat(opened, &found));
  errno = failed;
  return opened;
}

/// Returns why a file must not be locked, mapped or removed as a segment of this user; null if nothing forbids this.
/// A segment that another user can open is forbidden: that user could lock or truncate the mapped segment.
inline const char* foreign_file(const struct ::stat& found) noexcept {
  if (found.st_mode == 0) return nullptr;
  if (found.st_uid != ::geteuid()) return "is another user's file";
  if (!S_ISREG(found.st_mode)) return "is not a regular file";
  return (found.st_mode & 0077) != 0 ? "is a file that other users may open" : nullptr;
}

/// Removes `path` if it still names the open file. The caller must hold the file's exclusive lock.
inline bool remove_locked_segment(int descriptor, const std::string& path) noexcept {
  struct ::stat opened = {}, named = {};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         ::unlink(path.c_str()) == 0;
}

/// Removes a segment's file if the file belongs to this user and no process has the segment. A process that opens the
/// file at this moment waits for the lock and then finds that the file has no name.
inline bool remove_unused_segment(const std::string& path) noexcept {
  struct ::stat found = {};
  const file_descriptor file(open_segment_file(path, found));
  return file && foreign_file(found) == nullptr && lock_file(file.get(), LOCK_EX | LOCK_NB) &&
         remove_locked_segment(file.get(), path);
}

/// Removes the segments of killed processes of this user.
inline void remove_abandoned_segments() {
  ::DIR* const folder = ::opendir(segment_folder);
  if (folder == nullptr) return;
  const std::string prefix = segment_prefix();
  while (const ::dirent* const entry = ::readdir(folder))
    if (std::string_view(entry->d_name).substr(0, prefix.size()) == prefix)
      static_cast<void>(remove_unused_segment(joined({segment_folder, "/", entry->d_name})));
  ::closedir(folder);
}

}  // namespace devplace::detail

namespace devplace {

/// Memory without a name that this process shares with the processes that it forks later. The system frees the memory
/// when all these processes have ended, by any cause.
template <> struct implementation<backend::cpu, op::shared_pages> {
  static detail::memory_block allocate(std::size_t bytes, memory_purpose purpose) {
    if (bytes == 0) return {};
    if (bytes > PTRDIFF_MAX - detail::alignment) detail::throw_unaddressable(bytes);
    detail::require_free_pages(bytes);
    const detail::file_descriptor file(::memfd_create("devplace", MFD_CLOEXEC));
    if (!file)
      detail::throw_no_shared_memory(bytes, "memfd_create: " + detail::system_error_text(),
                                     "Allow the process to use memfd_create and more open files (ulimit -n)");
    if (const int failed = detail::take_pages(file.get(), bytes); failed != 0) refuse(bytes, "fallocate", failed);
    void* const data = detail::map_pages(file.get(), bytes);
    if (data == nullptr) refuse(bytes, "mmap", errno);
    detail::count_allocation(detail::counters(backend::cpu{}, detail::shared_memory_ordinal), bytes, purpose);
    return detail::memory_block({data, bytes, detail::shared_memory_ordinal, purpose, &release});
  }

 private:
  [[noreturn]] static void refuse(std::size_t bytes, const std::string& call, int failed) {
    detail::throw_no_shared_memory(bytes,
                                   detail::joined({"the system allocates no more memory for the process (", call, ": ",
                                                   detail::system_error_text(failed), ")"}),
                                   "Share less, or give the machine or the job more memory (free -h, ulimit -v)");
  }
  static void release(const detail::block_record& block) noexcept {
    ::munmap(block.data, block.bytes);
    detail::count_release(detail::counters(backend::cpu{}, block.ordinal), block.bytes, block.purpose);
  }
};

}  // namespace devplace
