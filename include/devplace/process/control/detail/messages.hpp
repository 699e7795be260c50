// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include <devplace/base/clock.hpp>
#include <devplace/base/hash.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/version.hpp>

namespace devplace::parallel::detail {

using devplace::detail::hash_of;
using devplace::detail::joined;
using devplace::detail::monotonic_seconds;

// The messages of the control connection: structs in the sender's byte order. Another order has another magic number.

enum class control_message : std::uint16_t {
  hello,
  welcome,
  refusal,
  heartbeat,
  gather,
  gathered,
  failure,
  goodbye,
  part
};

/// Precedes every message. The layouts of this header and of refusals, which are texts, are equal in all versions.
struct control_header {
  std::uint32_t magic = magic_number;
  std::uint16_t protocol = current_protocol;
  control_message type;
  std::uint64_t bytes;  ///< size of the body that follows

  static constexpr std::uint32_t magic_number = 0x64765043;  // dvPC
  static constexpr std::uint16_t current_protocol = 3;
};

/// A hash of a job's token. Over a network the token proves that a process belongs to the job, so no error message
/// contains it.
struct control_token {
  std::uint64_t halves[2];

  explicit control_token(std::string_view text) noexcept : halves{hash_of(text), hash_of(1, text)} {}
  control_token() = default;
  /// Compares in constant time, so that the time does not reveal how much of a guess is right.
  bool operator==(const control_token& other) const noexcept {
    return ((halves[0] ^ other.halves[0]) | (halves[1] ^ other.halves[1])) == 0;
  }
};

/// Replaces the bytes of another process's text that could control a terminal.
inline std::string printable(std::string text) {
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

/// A text of fixed size; longer texts are cut.
template <std::size_t N> struct control_text {
  char letters[N];

  control_text& operator=(const char* text) noexcept {
    std::memset(letters, 0, N);
    const std::size_t length = std::strlen(text);
    std::memcpy(letters, text, length < N ? length : N - 1);
    return *this;
  }
  std::string str() const { return printable(std::string(letters, ::strnlen(letters, N))); }
  bool operator==(const control_text&) const = default;
};

struct control_address {
  std::int64_t pid;
  control_text<64> host;
};

struct control_hello {
  control_token token;
  std::int32_t rank, size;
  control_address from;
  control_text<32> version;
  std::uint64_t throws;  ///< whether process_options::failure is on_failure::throw_
};

/// A collective call; `number` counts from 1.
struct control_call {
  std::uint64_t number, count, element_bytes;
  control_text<32> name;

  bool same_as(const control_call& other) const noexcept {
    return count == other.count && element_bytes == other.element_bytes && name == other.name;
  }
};

struct control_state {
  static constexpr std::size_t remembered = 8;

  std::uint64_t entered, left;  ///< numbers of the last calls; the process is in a call if they differ
  double waited;                ///< seconds in the present call
  control_call recent[remembered];

  const control_call* find(std::uint64_t number) const noexcept {
    const control_call& call = recent[number % remembered];
    return number != 0 && call.number == number ? &call : nullptr;
  }
};

/// The collective calls of a process in a part of the group.
struct control_part {
  std::uint64_t part;     ///< the number of the part
  std::uint64_t members;  ///< number of its processes
  std::uint64_t closed;   ///< whether the process will make no further call in the part
  control_state state;
};

/// Whether and how a process leaves the group; the body of a goodbye.
enum class leaving : std::uint32_t { no, in_order, by_exception };

/// Precedes a contribution to an exchange. The ranks of the members follow, unless all processes are members.
/// Exchanges between different members, or of different parts of the group, have different keys.
struct control_gather {
  std::uint64_t key;
  std::uint32_t members;  ///< number of the ranks that follow; 0: all processes
  std::uint32_t equal;    ///< whether all contributions have the same size
};

/// Maximum size of a contribution to an exchange.
inline constexpr std::size_t control_gather_limit = std::size_t{1} << 16;
inline constexpr std::size_t control_text_limit = 4096;

template <class T> T control_read(const std::byte* body) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  T result;
  std::memcpy(&result, body, sizeof(T));
  return result;
}

}  // namespace devplace::parallel::detail
