// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>

#include <devplace/memory/row_block.hpp>

namespace devplace::detail {

/// Synchronous copies within host memory, ordinary or pinned, by the calling thread.
struct host_copies {
  static void copy_in(int, void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void copy_out(int, void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void copy_within(int, void* to, const void* from, std::size_t bytes) { std::memmove(to, from, bytes); }
  static void copy_between(int, void* to, int, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void copy_rows_in(int, void* to, const void* from, const row_block& block) { copy_row_block(to, from, block); }
  static void copy_rows_out(int, void* to, const void* from, const row_block& block) {
    copy_row_block(to, from, block);
  }
  static void copy_rows_within(int, void* to, const void* from, const row_block& block) {
    copy_row_block(to, from, block);
  }
  static void copy_rows_between(int, void* to, int, const void* from, const row_block& block) {
    copy_row_block(to, from, block);
  }
  static void synchronize(int) {}
  static std::size_t trim(int) { return 0; }
};

}  // namespace devplace::detail
