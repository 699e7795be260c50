// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <devplace/config.hpp>
#include <devplace/io/file.hpp>
#include <devplace/place/error.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Used without the component zlib: reading a gzip file throws an error that says what to link.
class gzip_reader {
 public:
  gzip_reader(std::span<const unsigned char>, std::string_view operation, std::string_view name) {
    throw file_error(std::string(operation) + ": " + in_quotes(name) +
                     " is compressed with gzip and this program was built without zlib. Link devplace::zlib "
                     "(find_package(devplace COMPONENTS zlib)), or decompress the file with gunzip.");
  }

  void read(std::vector<unsigned char>&, std::size_t) {}
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
