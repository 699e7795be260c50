// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>

namespace devplace::detail {

/// Synchronous copies within host memory, ordinary or pinned, by the calling thread.
struct host_copies {
  static void copy_in(int, void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void copy_out(int, void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void copy_within(int, void* to, const void* from, std::size_t bytes) { std::memmove(to, from, bytes); }
  static void copy_between(int, void* to, int, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void synchronize(int) {}
  static std::size_t trim(int) { return 0; }
};

}  // namespace devplace::detail
