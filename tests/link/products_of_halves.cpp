// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled with warnings as errors: g++ -O2 suspects that the generic product of few rows reads vectors before they are
// written.

#include <devplace/core.hpp>

namespace dp = devplace;

int main() {
  using halves = dp::tensor<dp::half, dp::extents<2, 16>, dp::on<dp::cpu>>;
  halves x, y;
  x = 1.0F;
  y = 1.0F;
  const auto products = dp::matmul(x, dp::transposed(y));
  return products(0, 0) == dp::half(16) ? 0 : 1;
}
