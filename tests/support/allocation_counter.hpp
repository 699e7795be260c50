// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Replaces operator new to count its calls. Include in one file of an executable only.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "support/sanitizers.hpp"

namespace support {

/// Calls of operator new so far. Stays 0 under sanitizers, whose own operator new must not be replaced.
inline std::atomic<long> allocations = 0;

}  // namespace support

#if !DEVPLACE_TEST_SANITIZED
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  support::allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif
