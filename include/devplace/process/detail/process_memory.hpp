// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <devplace/base/clock.hpp>

namespace devplace::parallel::detail {

/// Copies from the memory of another process of this host. Sets errno and returns false if Linux refuses, as it does
/// where a process may not trace others of its user, or if the other process has ended.
inline bool copy_from_process(std::int64_t process, void* to, std::uint64_t at, std::size_t bytes) noexcept {
  auto* into = static_cast<std::byte*>(to);
  while (bytes != 0) {
    const ::iovec here{into, bytes}, there{reinterpret_cast<void*>(at), bytes};
    const ::ssize_t copied = ::process_vm_readv(static_cast<::pid_t>(process), &here, 1, &there, 1, 0);
    if (copied <= 0) return false;
    into += copied;
    at += static_cast<std::size_t>(copied);
    bytes -= static_cast<std::size_t>(copied);
  }
  return true;
}

/// Tells other processes how to find this one's memory. In another container the process identifier may belong to
/// another process, so they look for the original of this object, of which they have a copy.
struct memory_identity {
  std::int64_t process = ::getpid(), made = devplace::detail::monotonic_nanoseconds();
  std::uint64_t at = reinterpret_cast<std::uint64_t>(this);

  /// Whether this process can copy from the memory of the process that made the original.
  bool readable() const noexcept {
    unsigned char original[sizeof(memory_identity)];
    return copy_from_process(process, original, at, sizeof original) &&
           std::memcmp(original, this, sizeof original) == 0;
  }
};

}  // namespace devplace::parallel::detail
