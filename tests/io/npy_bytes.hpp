// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Contents of .npy files.
namespace npy_bytes {

/// A file as written by np.save of NumPy 2.4.6: the header padded with spaces to 128 bytes, then the elements.
inline std::string numpy_file(std::string_view dict, std::string_view elements, char version = 1) {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  file += static_cast<char>(version == 1 ? 0x76 : 0x74);
  file += '\0';
  if (version > 1) file += std::string(2, '\0');
  file += dict;
  file.append(127 - file.size(), ' ');
  file += '\n';
  return file + std::string(elements);
}

template <std::size_t N> std::string_view bytes(const char (&literal)[N]) { return {literal, N - 1}; }

inline const std::string float_2x3 =
    numpy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
               bytes("\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80\xc0\x00\x00\x00?o\x12\x83:"));

/// A file of version 1.0 with this dict verbatim and no padding.
inline std::string bare_file(const std::string& dict, std::string_view elements) {
  std::string file = "\x93NUMPY\x01";
  file += '\0';
  file += static_cast<char>(dict.size());
  file += '\0';
  return file + dict + std::string(elements);
}

}  // namespace npy_bytes
