// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace support {

/// Whether AddressSanitizer or ThreadSanitizer has replaced the allocator: it ends the process where operator new
/// would report that there is no memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
  #else
inline constexpr bool sanitized = false;
  #endif
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace support
