// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>

#include <devplace/io/input_file.hpp>

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// A file with these bytes.
class memory_source final : public devplace::detail::byte_source {
 public:
  explicit memory_source(std::span<const unsigned char> bytes) : rest_(bytes) {}

  std::size_t read(void* to, std::size_t bytes) override {
    const std::size_t got = std::min(bytes, rest_.size());
    if (got != 0) std::memcpy(to, rest_.data(), got);
    rest_ = rest_.subspan(got);
    return got;
  }
  remaining_bytes remaining() const override { return {rest_.size(), true}; }

 private:
  std::span<const unsigned char> rest_;
};
