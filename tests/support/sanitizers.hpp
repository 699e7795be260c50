// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  #define DEVPLACE_TEST_SANITIZED 1
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    #define DEVPLACE_TEST_SANITIZED 1
  #endif
#endif
#if !defined(DEVPLACE_TEST_SANITIZED)
  #define DEVPLACE_TEST_SANITIZED 0
#endif

#if defined(__SANITIZE_ADDRESS__)
  #define DEVPLACE_TEST_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer)
    #define DEVPLACE_TEST_ADDRESS_SANITIZER 1
  #endif
#endif
#if !defined(DEVPLACE_TEST_ADDRESS_SANITIZER)
  #define DEVPLACE_TEST_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__)
  #define DEVPLACE_TEST_THREAD_SANITIZER 1
#elif defined(__has_feature)
  #if __has_feature(thread_sanitizer)
    #define DEVPLACE_TEST_THREAD_SANITIZER 1
  #endif
#endif
#if !defined(DEVPLACE_TEST_THREAD_SANITIZER)
  #define DEVPLACE_TEST_THREAD_SANITIZER 0
#endif

namespace support {

/// Whether AddressSanitizer or ThreadSanitizer replaces the allocator: theirs terminates the process where operator new
/// would throw bad_alloc.
inline constexpr bool sanitized = DEVPLACE_TEST_SANITIZED != 0;

/// Whether kernels run on the GPU in software, which takes some thousand times as long as a GPU.
#ifdef DEVPLACE_TEST_SOFTWARE_GPU
inline constexpr bool on_software_gpu = true;
#else
inline constexpr bool on_software_gpu = false;
#endif

}  // namespace support
