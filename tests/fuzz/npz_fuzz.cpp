// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer target: reading the directory of any input as a .npz file, and reading its members, succeeds or throws
// file_error. Contents never exceed the largest size to which the input can decompress.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <devplace/io/detail/zip_member.hpp>
#include <devplace/io/npy.hpp>

#include "io/npy_bytes.hpp"
#include "io/zip_of.hpp"
#include "memory_source.hpp"
#include "mutate_valid_files.hpp"

namespace {

using input = std::span<const std::uint8_t>;

std::size_t read_some(const void* object, std::uint64_t offset, void* to, std::size_t bytes) {
  const input& from = *static_cast<const input*>(object);
  require(offset <= from.size() && bytes <= from.size() - offset);
  if (bytes != 0) std::memcpy(to, from.data() + offset, bytes);
  return bytes;
}

/// Reads a member to its end, in pieces.
void read_whole(const devplace::detail::zip_file& file, const devplace::detail::zip_entry& entry) {
  devplace::detail::zip_member member(file, entry, entry.name);
  const std::uint64_t announced = member.remaining().count;
  require(announced / 1032 <= file.size);
  std::vector<unsigned char> piece(4096);
  std::uint64_t total = 0;
  while (const std::size_t got = member.read(piece.data(), piece.size())) total += got;
  require(total == announced);
}

std::string seed_file(unsigned number) {
  const std::string array = npy_bytes::float_2x3;
  zip_part part{"x.npy", array, devplace::detail::zip_checksum(0, array.data(), array.size())};
  if (number % 4 == 1) return zip_of({part, {"other", "", 0}}, true);
  if (number % 4 == 2) {  // deflate's stored block
    const auto size = static_cast<unsigned>(array.size());
    const char block[] = {1, static_cast<char>(size), static_cast<char>(size >> 8), static_cast<char>(~size),
                          static_cast<char>(~size >> 8)};
    part.bytes = std::string(block, sizeof block) + array;
    part.method = 8;
  }
  if (number % 4 == 3) {  // deflate's fixed codes: 4 bytes of 'a'
    part = {"y", std::string("\x4b\x4c\x4c\x04\x00", 5), devplace::detail::zip_checksum(0, "aaaa", 4), 4, 8};
  }
  return zip_of({part});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const input bytes(data, size);
  const devplace::detail::zip_file file{&read_some, &bytes, size, "input"};
  std::vector<devplace::detail::zip_entry> entries;
  try {
    entries = file.entries();
  } catch (const devplace::file_error&) {
    return 0;
  }
  entries.resize(std::min<std::size_t>(entries.size(), 16));
  for (const devplace::detail::zip_entry& entry : entries) {
    try {
      read_whole(file, entry);
    } catch (const devplace::file_error&) {
    }
    try {
      devplace::detail::zip_member member(file, entry, entry.name);
      using extents = devplace::extents<devplace::dyn, devplace::dyn>;
      const auto x = devplace::detail::read_npy_from<float, extents>(member, {"npz_file", entry.name});
      require(x.size() * sizeof(float) <= entry.contents);
    } catch (const devplace::file_error&) {
    }
  }
  return 0;
}
