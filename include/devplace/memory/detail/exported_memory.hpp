// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include <devplace/place/backend.hpp>

namespace devplace::op {

/// Memory of a backend's devices that other processes open. `device(ordinal)` names the device in all processes.
/// `message_bytes(bytes)` is the size of the message that a segment passes to the other processes. `allocate(ordinal,
/// bytes, segment)` allocates memory and writes the message to the segment. `record(ordinal, block)` marks the work
/// after which other processes may use the memory. `open(ordinal, bytes, segment)` opens the memory in another process.
struct ipc {};

}  // namespace devplace::op

namespace devplace::detail {

/// A unique segment name of 20 characters.
inline std::string exported_name() {
  std::random_device random;
  const std::uint64_t number = std::uint64_t{random()} << 32 ^ random();
  std::string name = "ipc.";
  for (int i = 0; i < 16; ++i) name += "0123456789abcdef"[number >> (4 * i) & 15];
  return name;
}

}  // namespace devplace::detail

#include DEVPLACE_DEVICES(ipc)
