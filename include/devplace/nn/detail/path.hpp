// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace devplace::nn::detail {

/// Hash of the empty path (FNV-1a, 64 bits).
inline constexpr std::uint64_t root_path = 0xcbf29ce484222325U;

/// FNV-1a of a path such as `0.weight`; with `start`, the hash of the path with hash `start` followed by the text.
constexpr std::uint64_t path_hash(std::string_view text, std::uint64_t start = root_path) {
  for (const char c : text)
    start = (start ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return start;
}

/// The hash of `parent` with `.name` appended (only `name` at the root); equals path_hash of the whole path.
constexpr std::uint64_t child_path(std::uint64_t parent, std::string_view name) {
  return path_hash(name, parent == root_path ? parent : path_hash(".", parent));
}

/// The same for a layer's number in its container, in decimal.
constexpr std::uint64_t child_path(std::uint64_t parent, std::size_t index) {
  char digits[20]{};
  std::size_t first = sizeof digits;
  do {
    digits[--first] = static_cast<char>('0' + index % 10);
    index /= 10;
  } while (index != 0);
  return child_path(parent, std::string_view(digits + first, sizeof digits - first));
}

}  // namespace devplace::nn::detail
