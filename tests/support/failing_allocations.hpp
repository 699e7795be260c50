// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Replaces operator new by one that can be made to fail. Include in one file of an executable only.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace support {

/// Calls of operator new that succeed before one fails: at 0 the next one fails; negative: none fails.
inline std::atomic<long> until_bad_alloc = -1;

inline void* allocate_or_fail(std::size_t bytes, std::size_t alignment) noexcept {
  if (until_bad_alloc.load() >= 0 && until_bad_alloc.fetch_sub(1) == 0) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

}  // namespace support

void* operator new(std::size_t bytes) {
  if (void* memory = support::allocate_or_fail(bytes, alignof(std::max_align_t))) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* memory = support::allocate_or_fail(bytes, static_cast<std::size_t>(alignment))) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return support::allocate_or_fail(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return support::allocate_or_fail(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
