// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <sstream>
#include <string>

namespace devplace::bench {

/// A matrix product of [m, k] and [k, n], parsed from `float/64x256x784/nt` (type, m x n x k, operands stored
/// transposed).
struct product_shape {
  std::string type;
  std::size_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;

  explicit product_shape(const std::string& name) {
    std::istringstream in(name);
    std::string letters;
    char x;
    std::getline(in, type, '/');
    in >> m >> x >> n >> x >> k >> x >> letters;
    transpose_a = letters[0] == 't';
    transpose_b = letters[1] == 't';
  }
};

/// The two sizes, parsed from `1024x10`.
struct row_shape {
  std::size_t rows = 0, columns = 0;

  explicit row_shape(const std::string& name) {
    std::istringstream in(name);
    char x;
    in >> rows >> x >> columns;
  }
};

}  // namespace devplace::bench
