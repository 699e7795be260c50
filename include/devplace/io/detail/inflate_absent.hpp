// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Replaces the reader of gzip files in programs without the component zlib: throws file_error, which says what to
/// link.
class gzip_reader final : public byte_source {
 public:
  gzip_reader(byte_source&, std::span<const unsigned char>, const file_origin& from) {
    fail_read(from, {"is compressed with gzip and this program was built without zlib. Link devplace::zlib "
                     "(find_package(devplace COMPONENTS zlib)), or decompress the file with gunzip."});
  }

  std::size_t read(void*, std::size_t) override { return 0; }
  remaining_bytes remaining() const override { return {0, true}; }
};

/// Continues the CRC-32 of zip files (ISO 3309, polynomial 0xedb88320 in reversed order) with more bytes.
inline std::uint32_t zip_checksum(std::uint32_t before, const void* bytes, std::size_t count) {
  static constexpr std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> remainders{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t remainder = byte;
      for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? 0xedb88320u : 0u);
      remainders[byte] = remainder;
    }
    return remainders;
  }();
  std::uint32_t crc = ~before;
  for (std::size_t i = 0; i < count; ++i)
    crc = crc >> 8 ^ table[(crc ^ static_cast<const unsigned char*>(bytes)[i]) & 255];
  return ~crc;
}

/// Replaces the reader of members of zip files in the same way.
class deflate_reader final : public byte_source {
 public:
  deflate_reader(byte_source&, const file_origin& from) {
    fail_read(from,
              {"is compressed and this program was built without zlib. Link devplace::zlib (find_package(devplace "
               "COMPONENTS zlib)), or save it without compression, by np.savez."});
  }

  std::size_t read(void*, std::size_t) override { return 0; }
  remaining_bytes remaining() const override { return {0, true}; }
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
