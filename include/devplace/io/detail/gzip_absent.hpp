// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Replaces the reader in programs without the component zlib: throws file_error, which says what to link.
class gzip_reader final : public byte_source {
 public:
  gzip_reader(byte_source&, std::span<const unsigned char>, std::string_view operation, std::string_view name) {
    fail_file(operation, name,
              {"is compressed with gzip and this program was built without zlib. Link devplace::zlib "
               "(find_package(devplace COMPONENTS zlib)), or decompress the file with gunzip."});
  }

  std::size_t read(void*, std::size_t) override { return 0; }
  remaining_bytes remaining() const override { return {0, true}; }
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
