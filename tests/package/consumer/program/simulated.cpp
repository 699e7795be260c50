// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/print.hpp>

#include <iostream>

namespace dp = devplace;

int main() {
  const dp::tensor<float, dp::extents<2, 2>, dp::on<dp::cpu>> a{{1, 2}, {3, 4}};
  const auto there = dp::to<dp::on<dp::cuda<1>>>(a);
  const auto back = dp::to<dp::on<dp::cpu>>(there);
  std::cout << back << '\n';
  return back(1, 1) == 4.0f ? 0 : 1;
}
