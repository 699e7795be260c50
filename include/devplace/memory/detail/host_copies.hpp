// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

namespace devplace::detail {

enum class copy_kind : unsigned char;  // memory/block.hpp, which includes this header

/// Synchronous copies within host memory, ordinary or pinned, by the calling thread.
struct host_copies {
  static void copy(copy_kind, int, void* to, const void* from, std::size_t bytes) { std::memmove(to, from, bytes); }
  static void copy_from_peer(int, void* to, int, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static std::string why_apart(int, int) { return {}; }
  static void wait(int) {}
  static void synchronize(int) {}
  static std::size_t trim(int) { return 0; }
};

}  // namespace devplace::detail
