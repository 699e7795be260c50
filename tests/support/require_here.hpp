// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>

namespace support {

/// Throws unless `fact` holds.
inline void require(bool fact, const char* what) {
  if (!fact) throw std::runtime_error(what);
}

}  // namespace support

/// An assertion for threads and forked processes, in which Catch2's assertions do not work.
#define REQUIRE_HERE(...) support::require((__VA_ARGS__), #__VA_ARGS__)
