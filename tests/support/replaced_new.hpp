// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Replaces operator new by one that counts its calls and can be made to fail. Include in one file of an executable
// only.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "support/sanitizers.hpp"

namespace support {

/// Calls of operator new so far. Stays 0 under sanitizers, whose own operator new must not be replaced.
inline std::atomic<long> allocations = 0;
/// Calls of operator new that succeed before one fails: at 0 the next one fails; negative: none fails.
inline std::atomic<long> until_bad_alloc = -1;

inline void* allocate_or_fail(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (until_bad_alloc.load() >= 0 && until_bad_alloc.fetch_sub(1) == 0) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

}  // namespace support

#if !DEVPLACE_TEST_SANITIZED
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* memory = support::allocate_or_fail(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* memory = support::allocate_or_fail(bytes, static_cast<std::size_t>(alignment))) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return support::allocate_or_fail(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return support::allocate_or_fail(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif
