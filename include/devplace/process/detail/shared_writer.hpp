// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
  #include <emmintrin.h>
#endif

namespace devplace::parallel::detail {

/// Copies a process's data to memory that other processes read. Uses normal stores if all processes share a last-level
/// cache. Otherwise a normal store would first fetch the line from the other cache, which is ten times slower than
/// memory; streaming stores bypass the caches. Which case holds depends on the processors, and changes when processes
/// migrate.
/// Therefore normal stores are timed and compared with streaming stores, whose cost is constant.
class shared_writer {
 public:
  /// Measures streaming stores to memory that no process reads yet, which also allocates that memory.
  shared_writer(std::byte* memory, std::size_t bytes) {
    std::memset(memory, 0, bytes);
#if defined(__x86_64__)
    if (bytes < 2 * calibration) return;
    for (int round = 0; round != 3; ++round) {
      const std::uint64_t begin = __builtin_ia32_rdtsc();
      stream(memory, memory + calibration, calibration);
      _mm_sfence();
      const std::uint64_t cycles = __builtin_ia32_rdtsc() - begin;
      if (round == 0 || cycles < streaming_) streaming_ = cycles;
    }
#endif
  }

  /// As std::memcpy, but allows null pointers for 0 bytes. fence() must follow before the data is published.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes == 0) return;
#if defined(__x86_64__)
    if (bytes >= smallest && streaming_ != 0) {
      if (slow_ <= 0) return timed_store(to, from, bytes);
      if (++copies_ % 64 != 0) return stream(to, from, bytes);
      timed_store(to, from, smallest);
      return stream(to + smallest, from + smallest, bytes - smallest);
    }
#endif
    std::memcpy(to, from, bytes);
  }
  /// Orders the copies, including streaming stores, before later stores.
  static void fence() noexcept {
#if defined(__x86_64__)
    _mm_sfence();
#endif
  }

  /// Copies by streaming stores, if the processor has them.
  static void stream(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    const std::size_t head = (64 - reinterpret_cast<std::uintptr_t>(to) % 64) % 64;
    if (bytes < 64 + head) return static_cast<void>(std::memcpy(to, from, bytes));
    std::memcpy(to, from, head);
    std::size_t i = head;
#if defined(__x86_64__)
    for (; i + 64 <= bytes; i += 64)
      for (std::size_t k = 0; k != 64; k += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + k),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + k)));
#endif
    std::memcpy(to + i, from + i, bytes - i);
  }

 private:
#if defined(__x86_64__)
  static constexpr std::size_t smallest = 2048, calibration = 128 * 1024;

  void timed_store(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    const std::uint64_t begin = __builtin_ia32_rdtsc();
    std::memcpy(to, from, bytes);
    const std::uint64_t cycles = __builtin_ia32_rdtsc() - begin;
    const bool slow = cycles * (calibration / 1024) > 4 * streaming_ * (bytes / 1024);
    slow_ += slow ? (slow_ < 3 ? 1 : 0) : (slow_ > -3 ? -1 : 0);
  }
  std::uint64_t streaming_ = 0;  ///< cycles to stream `calibration` bytes
  int slow_ = -3;                ///< -3 to 3; above 0: the latest normal stores were slow
  unsigned copies_ = 0;
#endif
};

}  // namespace devplace::parallel::detail
