// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#if defined(__has_feature)
  #define DEVPLACE_TEST_HAS_FEATURE(name) __has_feature(name)
#else
  #define DEVPLACE_TEST_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || DEVPLACE_TEST_HAS_FEATURE(address_sanitizer)
  #define DEVPLACE_TEST_ADDRESS_SANITIZER 1
#else
  #define DEVPLACE_TEST_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__) || DEVPLACE_TEST_HAS_FEATURE(thread_sanitizer)
  #define DEVPLACE_TEST_THREAD_SANITIZER 1
#else
  #define DEVPLACE_TEST_THREAD_SANITIZER 0
#endif
#define DEVPLACE_TEST_SANITIZED (DEVPLACE_TEST_ADDRESS_SANITIZER + DEVPLACE_TEST_THREAD_SANITIZER != 0)

namespace support {

/// Whether AddressSanitizer or ThreadSanitizer replaces the allocator: theirs terminates the process where operator new
/// would throw bad_alloc.
inline constexpr bool sanitized = DEVPLACE_TEST_SANITIZED;

/// Whether kernels run on the GPU in software, which takes some thousand times as long as a GPU.
#ifdef DEVPLACE_TEST_SOFTWARE_GPU
inline constexpr bool on_software_gpu = true;
#else
inline constexpr bool on_software_gpu = false;
#endif

}  // namespace support
