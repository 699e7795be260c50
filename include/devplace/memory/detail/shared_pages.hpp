// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <devplace/base/error.hpp>
#include <devplace/base/file_descriptor.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>
#include <devplace/place/device_info.hpp>

namespace devplace::detail {

/// The system's text for errno, or for another error number.
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
