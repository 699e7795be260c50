// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/software_gpu/fat_binary.hpp"

#include <cstddef>
#include <cstring>

#include "support/software_gpu/program.hpp"

namespace devplace::test::software_gpu {

namespace {

constexpr u32 magic = 0xba55ed50;
constexpr u16 ptx_kind = 1;
constexpr std::size_t smallest_entry = 64;

template <class T> T read(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

std::string ptx_of_fat_binary(const void* wrapper) {
  // The wrapper holds a magic number and a version, then the address of the binary.
  const auto* const data = read<const unsigned char*>(static_cast<const unsigned char*>(wrapper) + 8);
  if (read<u32>(data) != magic) throw ptx_error("software GPU: a fat binary begins with an unknown number");
  const unsigned char* entry = data + read<u16>(data + 6);
  const unsigned char* const end = entry + read<u64>(data + 8);
  std::string text;
  u32 newest = 0;
  while (entry + smallest_entry <= end) {
    const u32 header = read<u32>(entry + 4), architecture = read<u32>(entry + 28);
    const u64 bytes = read<u64>(entry + 8);
    if (read<u16>(entry) == ptx_kind && architecture >= newest) {
      const std::string found(reinterpret_cast<const char*>(entry + header), bytes);
      if (found.find(".version") == std::string::npos)
        throw ptx_error("software GPU: the PTX of a fat binary is compressed; compile it with nvcc --no-compress");
      text = found.substr(0, found.find('\0')), newest = architecture;
    }
    entry += header + bytes;
  }
  if (text.empty())
    throw ptx_error(
        "software GPU: a fat binary holds no PTX; compile it with -gencode arch=compute_80,code=compute_80");
  return text;
}

}  // namespace devplace::test::software_gpu
