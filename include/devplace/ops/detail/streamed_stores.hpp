// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// Stores that bypass the caches, for results that no cache could hold. An ordinary store first reads the line of memory
// that it changes; these write whole lines.

namespace devplace::detail {

#if defined(__x86_64__)
/// Number of bytes that one thread writes from which on stores bypass the caches: several times a processor's part of
/// the last cache, so that nothing of the result would be found there.
inline constexpr std::size_t streamed_from = std::size_t{16} << 20U;

/// Copies a block that lies in the first cache. Not inlined into code for other instruction sets, because 16-byte
/// vectors need none.
[[gnu::noinline]] inline void store_around_caches(void* to, const void* from, std::size_t bytes) {
  typedef float vector __attribute__((vector_size(16)));
  typedef float in_memory __attribute__((vector_size(16), aligned(1), may_alias));
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(vector) != 0) {
    std::memcpy(to, from, bytes);
    return;
  }
  auto* target = static_cast<std::byte*>(to);
  auto* source = static_cast<const std::byte*>(from);
  for (; bytes >= sizeof(vector); bytes -= sizeof(vector), target += sizeof(vector), source += sizeof(vector)) {
    const vector part = *reinterpret_cast<const in_memory*>(source);
    __asm__ volatile("movntps %1, %0" : "=m"(*reinterpret_cast<in_memory*>(target)) : "x"(part));
  }
  std::memcpy(target, source, bytes);
}

/// Orders these stores before the later stores of this thread, as other stores are.
inline void finish_stores_around_caches() { __asm__ volatile("sfence" ::: "memory"); }
#else
inline constexpr std::size_t streamed_from = ~std::size_t{0};
inline void store_around_caches(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
inline void finish_stores_around_caches() {}
#endif

}  // namespace devplace::detail
