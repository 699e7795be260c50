// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace devplace::detail {

/// The hash with which add_to_hash() and fnv1a() begin.
inline constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325;

/// Adds a number, or the elements of a text or a vector, to a hash. If a single number changes, the hash changes. Does
/// not allocate. Checkpoints contain such hashes, so their bits must not change.
template <class T> void add_to_hash(std::uint64_t& hash, const T& value) {
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  } else if constexpr (std::is_convertible_v<const T&, double>) {
    add_to_hash(hash, std::bit_cast<std::uint64_t>(static_cast<double>(value)));
  } else {
    for (const auto& element : value) add_to_hash(hash, element);
  }
}

template <class... T> std::uint64_t hash_of(const T&... values) {
  std::uint64_t hash = hash_of_nothing;
  (add_to_hash(hash, values), ...);
  return hash;
}

/// FNV-1a, 64 bits, of a text. Initial values of parameters depend on such hashes, so their bits must not change.
constexpr std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = hash_of_nothing;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace devplace::detail
