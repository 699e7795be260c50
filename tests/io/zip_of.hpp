// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// A member of a zip file, as described in the directory.
struct zip_part {
  std::string name, bytes;
  std::uint32_t checksum = 0;
  std::uint64_t contents = bytes.size();
  unsigned method = 0, flags = 0;
};

/// A zip file with these members; `wide` stores all numbers in 64 bits.
inline std::string zip_of(const std::vector<zip_part>& parts, bool wide = false, const std::string& comment = {}) {
  const auto put = [](std::string& to, int bytes, std::uint64_t number) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(number >> (8 * i) & 255);
  };
  constexpr std::uint64_t elsewhere = 0xffffffff;
  std::string file, directory;
  for (const zip_part& part : parts) {
    const std::uint64_t header = file.size();
    put(file, 4, 0x04034b50);
    put(file, 2, 45);
    put(file, 2, part.flags);
    put(file, 2, part.method);
    put(file, 4, 0);
    put(file, 4, part.checksum);
    put(file, 4, part.bytes.size());
    put(file, 4, part.contents);
    put(file, 2, part.name.size());
    put(file, 2, 5);  // an extra field that readers skip
    file += part.name;
    put(file, 4, 0x0001'ffff);
    file += '\0';
    file += part.bytes;

    put(directory, 4, 0x02014b50);
    put(directory, 4, 45u << 16 | 45u);
    put(directory, 2, part.flags);
    put(directory, 2, part.method);
    put(directory, 4, 0);
    put(directory, 4, part.checksum);
    put(directory, 4, wide ? elsewhere : part.bytes.size());
    put(directory, 4, wide ? elsewhere : part.contents);
    put(directory, 2, part.name.size());
    put(directory, 2, wide ? 28 : 0);
    put(directory, 2, 0);
    put(directory, 8, 0);
    put(directory, 4, wide ? elsewhere : header);
    directory += part.name;
    if (wide) {
      put(directory, 4, 24u << 16 | 1u);
      put(directory, 8, part.contents);
      put(directory, 8, part.bytes.size());
      put(directory, 8, header);
    }
  }
  const std::uint64_t offset = file.size(), end = offset + directory.size();
  file += directory;
  if (wide) {
    put(file, 4, 0x06064b50);
    put(file, 8, 44);
    put(file, 4, 45u << 16 | 45u);
    put(file, 8, 0);
    put(file, 8, parts.size());
    put(file, 8, parts.size());
    put(file, 8, directory.size());
    put(file, 8, offset);
    put(file, 4, 0x07064b50);
    put(file, 4, 0);
    put(file, 8, end);
    put(file, 4, 1);
  }
  put(file, 4, 0x06054b50);
  put(file, 4, 0);
  put(file, 2, wide ? 0xffff : parts.size());
  put(file, 2, wide ? 0xffff : parts.size());
  put(file, 4, wide ? elsewhere : directory.size());
  put(file, 4, wide ? elsewhere : offset);
  put(file, 2, comment.size());
  return file + comment;
}
