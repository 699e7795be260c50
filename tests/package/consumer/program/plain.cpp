// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/print.hpp>
#include <devplace/tensor/tensor.hpp>

#include <iostream>

namespace dp = devplace;

int main() {
  const dp::tensor<float, dp::extents<2, 2>, dp::on<dp::cpu>> a{{1, 2}, {3, 4}};
  std::cout << a << '\n';
  return a(1, 1) == 4.0f ? 0 : 1;
}
