// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <devplace/io/npy.hpp>

namespace npy_bytes {

inline const std::string no_failure = "read without an error";

/// The error message of reading this file as float, extents<dyn>.
inline std::string failure_of_file(const std::string& path) {
  try {
    static_cast<void>(devplace::read_npy<float, devplace::extents<devplace::dyn>>(path));
  } catch (const devplace::file_error& error) {
    return error.what();
  }
  return no_failure;
}

}  // namespace npy_bytes
